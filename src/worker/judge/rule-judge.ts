import { firstGroup } from "#core/line-patterns/first-group.ts";
import { LineMatcher } from "#core/line-patterns/line-matcher.ts";
import { compileRules, type OutcomeRules, type RulePattern } from "#core/outcome-rules.ts";
import { longestJudged, type SeenLine } from "./line-cutter.ts";

/** A number that a log told: the text in the pattern's first group, and what it says. */
export interface ToldNumber {
  readonly text: string;
  /** Undefined when the text is no number. */
  readonly value: number | undefined;
}

/** What was seen in a log, of all that the rules ask for. */
export interface Seen {
  /** Those of the patterns that success demands. */
  readonly patterns: ReadonlySet<string>;
  /** The last of each name counts. */
  readonly numbers: ReadonlyMap<string, ToldNumber>;
  /** The first line that showed each class of failures. */
  readonly failures: ReadonlyMap<string, SeenLine>;
  /** The first ones: causes come before their consequences. */
  readonly errors: readonly SeenLine[];
  /** False when the log was made to cost too much: then no more of it was looked at. */
  readonly whole: boolean;
}

export const mostErrorLines = 50;
export const longestErrorLine = 500;

/**
 * About five seconds. Usual patterns take a few hundred steps, whatever the log: they count only
 * until the matcher knows its states. A budget in steps ends at the same line on every machine.
 */
const mostEffort = 20_000_000;

/** Looks at a log, line by line, for what the rules of its action ask for. */
export class RuleJudge {
  readonly #patterns: readonly RulePattern[];
  readonly #matcher: LineMatcher;
  readonly #shown: ReadonlySet<string>;
  readonly #mostEffort: number;
  readonly #seenPatterns = new Set<string>();
  readonly #numbers = new Map<string, ToldNumber>();
  readonly #failures = new Map<string, SeenLine>();
  readonly #errors: SeenLine[] = [];
  #extracting = 0;

  constructor(rules: OutcomeRules, budget: number = mostEffort) {
    this.#patterns = compileRules(rules);
    this.#matcher = new LineMatcher(this.#patterns.map(({ program }) => program));
    this.#shown = new Set(rules.shown?.map((line) => line.slice(0, longestJudged)));
    this.#mostEffort = budget;
  }

  get effort(): number {
    return this.#matcher.effort + this.#extracting;
  }

  get seen(): Seen {
    return {
      patterns: this.#seenPatterns,
      numbers: this.#numbers,
      failures: this.#failures,
      errors: this.#errors,
      whole: this.effort <= this.#mostEffort,
    };
  }

  look(line: SeenLine): void {
    if (this.effort > this.#mostEffort || this.#shown.has(line.text)) return;
    for (const at of this.#matcher.in(line.text)) {
      const found = this.#patterns[at];
      if (found !== undefined) this.#note(found, line);
    }
  }

  #note({ role, program }: RulePattern, line: SeenLine): void {
    switch (role.kind) {
      case "success":
        this.#seenPatterns.add(role.pattern);
        break;
      case "number": {
        // Followed thread by thread, and not remembered: each such line costs this.
        this.#extracting += Math.ceil((line.text.length * program.steps.length) / 16);
        const text = firstGroup(program, line.text);
        if (text !== undefined) this.#numbers.set(role.name, { text, value: numberIn(text) });
        break;
      }
      case "failure":
        if (!this.#failures.has(role.name)) this.#failures.set(role.name, shortened(line));
        break;
      case "error":
        // Lines come in order: one that fits two patterns is the last one already.
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

/** As programs print numbers; neither hexadecimal nor "Infinity", which JavaScript would take, too. */
function numberIn(text: string): number | undefined {
  const written = text.trim();
  if (written.length > 64 || !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(written))
    return undefined;
  const value = Number(written);
  return Number.isFinite(value) ? value : undefined;
}
