import { fitsStars } from "#core/star-pattern.ts";
import { jobStates } from "../job-state.ts";
import { allOf, anyOf, not, type Selection } from "./selection.ts";
import { SelectionProblem } from "./selection-problem.ts";
import { type SelectionToken, selectionTokens } from "./selection-tokens.ts";

/** The page lists individually selected jobs by name: this has room for some hundred names. */
export const maxSelectionLength = 16_384;

/** The limit for nested brackets and exclamation marks, because parsing and matching are recursive. */
const maxDepth = 100;

/**
 * Parses a selection such as `kind:b2g`, `platform:win32 & pgo & talos`, `state:failed & !name:lint`.
 *
 * `key:value` tests a tag, or `name`, `kind` or `state`; a single word matches a name, the value of any tag, or a tag
 * that is `true`. `*` stands for any text. `!` binds strongest, then `&` (which may be left out), then `|`. `not`,
 * `and` and `or` without quotes mean the same.
 *
 * Throws `SelectionProblem`and no other error, for any text.
 */
export function parseSelection(text: string): Selection {
  if (text.length > maxSelectionLength) {
    throw new SelectionProblem(
      maxSelectionLength + 1,
      `it has ${text.length} characters, more than ${maxSelectionLength}`,
      "select by a tag that the jobs share",
    );
  }
  const reader = new Reader([...selectionTokens(text)], text.length + 1);
  const selection = reader.either(0);
  reader.expectEnd();
  return selection;
}

/** A recursive-descent parser with one method for each operator precedence, lowest first. */
class Reader {
  readonly #tokens: readonly SelectionToken[];
  readonly #endColumn: number;
  #at = 0;

  constructor(tokens: readonly SelectionToken[], endColumn: number) {
    this.#tokens = tokens;
    this.#endColumn = endColumn;
  }

  either(depth: number): Selection {
    const first = this.both(depth);
    const others: Selection[] = [];
    while (this.#take("|")) others.push(this.both(depth));
    return anyOf(first, ...others);
  }

  both(depth: number): Selection {
    const first = this.one(depth);
    const others: Selection[] = [];
    while (this.#take("&") || this.#beginsPart()) others.push(this.one(depth));
    return allOf(first, ...others);
  }

  one(depth: number): Selection {
    const token = this.#tokens[this.#at];
    const column = token?.column ?? this.#endColumn;
    if (depth > maxDepth)
      throw new SelectionProblem(
        column,
        `brackets and "!" are nested more than ${maxDepth} levels deep`,
        "use fewer levels",
      );
    this.#at += 1;
    switch (token?.kind) {
      case "word":
        return { op: "word", pattern: token.pattern };
      case "key":
        assertKnownState(token);
        return { op: "key", key: token.key, pattern: token.pattern };
      case "!":
        return not(this.one(depth + 1));
      case "(": {
        const inner = this.either(depth + 1);
        if (!this.#take(")"))
          throw new SelectionProblem(column, "this bracket is never closed", 'add a ")"');
        return inner;
      }
      case undefined:
        throw new SelectionProblem(
          column,
          this.#tokens.length === 0 ? "it is empty" : "something is missing at its end",
          "name a job, a tag's value or KEY:VALUE; * is every job",
        );
      case "&":
      case "|":
      case ")":
        throw new SelectionProblem(
          column,
          `there is nothing before "${token.kind}"`,
          "name a job, a tag's value or KEY:VALUE there, or quote the sign",
        );
    }
  }

  expectEnd(): void {
    const token = this.#tokens[this.#at];
    if (token !== undefined)
      throw new SelectionProblem(
        token.column,
        "this bracket was never opened",
        'remove it, or add a "(" before',
      );
  }

  #take(kind: SelectionToken["kind"]): boolean {
    const isNext = this.#tokens[this.#at]?.kind === kind;
    if (isNext) this.#at += 1;
    return isNext;
  }

  #beginsPart(): boolean {
    switch (this.#tokens[this.#at]?.kind) {
      case "word":
      case "key":
      case "!":
      case "(":
        return true;
      case "&":
      case "|":
      case ")":
      case undefined:
        return false;
    }
  }
}

/** A misspelt state would silently select nothing. */
function assertKnownState(token: Extract<SelectionToken, { kind: "key" }>): void {
  if (token.key !== "state") return;
  if (jobStates.some((state) => fitsStars(token.pattern, state))) return;
  throw new SelectionProblem(
    token.column,
    "no job is ever in this state",
    `the states are ${jobStates.join(", ")}`,
  );
}
