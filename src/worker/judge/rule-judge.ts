import { LineMatcher } from "#core/line-patterns/line-matcher.ts";
import { compileRules, type OutcomeRules, type RulePattern } from "#core/outcome-rules.ts";
import { longestJudged, type SeenLine } from "./line-cutter.ts";

/** A number found in a log: the text of the pattern's first group, and its value. */
interface ToldNumber {
  readonly text: string;
  /** Undefined when the text is not a number. */
  readonly value: number | undefined;
}

/** Everything that the rules search for and that was found in a log. */
export interface Seen {
  /** The patterns that a success requires. */
  readonly patterns: ReadonlySet<string>;
  /** The last number of each name counts. */
  readonly numbers: ReadonlyMap<string, ToldNumber>;
  /** The first line that showed each class of failures. */
  readonly failures: ReadonlyMap<string, SeenLine>;
  /** The first ones: causes come before their consequences. */
  readonly errors: readonly SeenLine[];
  /** False when judging the log cost too much: then the rest of the log was not searched. */
  readonly whole: boolean;
}

interface JudgeLimits {
  readonly excessMs?: number;
  readonly nowMs?: () => number;
}

const mostErrorLines = 50;
const longestErrorLine = 500;

/** The maximum total time that lines may take above their allowance, in ms. */
const mostExcessMs = 5_000;

/**
 * Returns the allowance of a line in ms: some hundred times what usual patterns need, so that a slow or busy machine is
 * not mistaken for a hostile log.
 */
function allowedMs(line: string): number {
  return (line.length + 100) / 1_000;
}

/** Searches a log, line by line, for matches of the action's rules. */
export class RuleJudge {
  readonly #patterns: readonly RulePattern[];
  readonly #matcher: LineMatcher;
  readonly #shown: ReadonlySet<string>;
  readonly #mostExcessMs: number;
  readonly #nowMs: () => number;
  readonly #seenPatterns = new Set<string>();
  readonly #numbers = new Map<string, ToldNumber>();
  readonly #failures = new Map<string, SeenLine>();
  readonly #errors: SeenLine[] = [];
  /** The time above the allowance so far, in ms; negative while there is none. */
  #excessMs = 0;

  constructor(
    rules: OutcomeRules,
    { excessMs = mostExcessMs, nowMs = () => performance.now() }: JudgeLimits = {},
  ) {
    this.#patterns = compileRules(rules);
    this.#matcher = new LineMatcher(this.#patterns.map(({ compiled }) => compiled));
    this.#shown = new Set(rules.shown?.map((line) => line.slice(0, longestJudged)));
    this.#mostExcessMs = excessMs;
    this.#nowMs = nowMs;
  }

  get seen(): Seen {
    return {
      patterns: this.#seenPatterns,
      numbers: this.#numbers,
      failures: this.#failures,
      errors: this.#errors,
      whole: this.#excessMs <= this.#mostExcessMs,
    };
  }

  look(line: SeenLine): void {
    if (this.#excessMs > this.#mostExcessMs || this.#shown.has(line.text)) return;
    const begun = this.#nowMs();
    for (const at of this.#matcher.in(line.text)) {
      const found = this.#patterns[at];
      if (found !== undefined) this.#note(found, line);
    }
    this.#excessMs += this.#nowMs() - begun - allowedMs(line.text);
  }

  #note({ role, compiled }: RulePattern, line: SeenLine): void {
    switch (role.kind) {
      case "success":
        this.#seenPatterns.add(role.pattern);
        break;
      case "number": {
        const text = compiled.firstGroup(line.text);
        if (text !== undefined) this.#numbers.set(role.name, { text, value: numberIn(text) });
        break;
      }
      case "failure":
        if (!this.#failures.has(role.name)) this.#failures.set(role.name, shortened(line));
        break;
      case "error":
        // Lines arrive in order, so a line that matches two patterns is already the last entry.
        if (this.#errors.at(-1)?.number === line.number) break;
        if (this.#errors.length < mostErrorLines) this.#errors.push(shortened(line));
        break;
    }
  }
}

function shortened({ number, text }: SeenLine): SeenLine {
  return {
    number,
    text: text.length <= longestErrorLine ? text : `${text.slice(0, longestErrorLine - 1)}…`,
  };
}

/** Numbers as programs print them; neither hexadecimal nor "Infinity", which JavaScript would accept, too. */
function numberIn(text: string): number | undefined {
  const written = text.trim();
  if (written.length > 64 || !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(written))
    return undefined;
  const value = Number(written);
  return Number.isFinite(value) ? value : undefined;
}
