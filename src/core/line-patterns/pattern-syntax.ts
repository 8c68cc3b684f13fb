import { Fault } from "../fault.ts";
import { digitUnits, everyUnitBut, oneUnit, spaceUnits, type Units, wordUnits } from "./units.ts";

/** What a pattern is made of. */
export type PatternNode =
  /** One UTF-16 unit out of these. */
  | { readonly kind: "unit"; readonly units: Units }
  | { readonly kind: "sequence"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "choice"; readonly options: readonly PatternNode[] }
  | {
      readonly kind: "repeat";
      readonly part: PatternNode;
      readonly least: number;
      /** Infinity for no limit. */
      readonly most: number;
      readonly lazy: boolean;
    }
  /** Groups are numbered from 1, by their opening parentheses. */
  | { readonly kind: "group"; readonly part: PatternNode; readonly number: number }
  | { readonly kind: "assert"; readonly what: Assertion };

export type Assertion = "line-start" | "line-end" | "word-edge" | "no-word-edge";

export interface ParsedPattern {
  readonly node: PatternNode;
  readonly groups: number;
  readonly ignoreCase: boolean;
}

export const longestPattern = 500;
const deepest = 50;
const mostRepeats = 1_000;

/**
 * Reads a pattern: the part of JavaScript's regular expressions that can be matched in linear time.
 *
 * Throws `invalid_argument` with a sentence for people. Backreferences and lookaround are not
 * here for a reason: with them, no engine is known that a hostile line could not hold up.
 */
export function parsePattern(text: string): ParsedPattern {
  return new Parser(text).parse();
}

class Parser {
  readonly #text: string;
  #at = 0;
  #groups = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): ParsedPattern {
    if (this.#text === "") throw this.#problem("it is empty");
    if (this.#text.length > longestPattern)
      throw this.#problem(`it has more than ${longestPattern} characters`);
    const ignoreCase = this.#take("(?i)");
    const node = this.#choice();
    if (this.#at < this.#text.length) throw this.#problem('a ")" closes nothing; write \\)');
    return { node, groups: this.#groups, ignoreCase };
  }

  #choice(): PatternNode {
    if (++this.#depth > deepest) throw this.#problem("its groups are nested too deeply");
    const options = [this.#sequence()];
    while (this.#take("|")) options.push(this.#sequence());
    this.#depth--;
    const [only] = options;
    return options.length === 1 && only !== undefined ? only : { kind: "choice", options };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    for (let next = this.#peek(); next !== "" && next !== "|" && next !== ")"; next = this.#peek())
      parts.push(this.#repeated(this.#atom()));
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : { kind: "sequence", parts };
  }

  #repeated(part: PatternNode): PatternNode {
    const times = this.#times();
    if (times === undefined) return part;
    if (part.kind === "assert") throw this.#problem("there is nothing that could be repeated");
    const lazy = this.#take("?");
    if (this.#times() !== undefined) throw this.#problem("a repetition is repeated; use a group");
    return { kind: "repeat", part, ...times, lazy };
  }

  #times(): { readonly least: number; readonly most: number } | undefined {
    if (this.#take("*")) return { least: 0, most: Infinity };
    if (this.#take("+")) return { least: 1, most: Infinity };
    if (this.#take("?")) return { least: 0, most: 1 };
    const counted = /^\{(\d{1,9})(,(\d{0,9}))?\}/.exec(this.#text.slice(this.#at, this.#at + 24));
    if (counted === null) return undefined;
    this.#at += counted[0].length;
    const least = Number(counted[1]);
    const upTo = counted[3];
    const most = counted[2] === undefined ? least : upTo ? Number(upTo) : Infinity;
    if (most < least) throw this.#problem(`${counted[0]} has its limits the wrong way round`);
    if (least > mostRepeats || (most !== Infinity && most > mostRepeats))
      throw this.#problem(`${counted[0]} repeats more than ${mostRepeats} times`);
    return { least, most };
  }

  #atom(): PatternNode {
    const start = this.#at;
    const character = this.#next();
    switch (character) {
      case "(":
        return this.#group();
      case "[":
        return { kind: "unit", units: this.#set() };
      case ".":
        return { kind: "unit", units: everyUnitBut([]) };
      case "^":
        return { kind: "assert", what: "line-start" };
      case "$":
        return { kind: "assert", what: "line-end" };
      case "\\":
        return this.#escape();
      case "*":
      case "+":
      case "?":
        throw this.#problem(`"${character}" has nothing before it to repeat; write \\${character}`);
      case "{":
        this.#at = start;
        if (this.#times() !== undefined)
          throw this.#problem('"{" has nothing before it to repeat; write \\{');
        this.#at = start + 1;
        return unit(character);
      default:
        return unit(character);
    }
  }

  #group(): PatternNode {
    if (this.#take("?")) {
      if (/^(=|!|<=|<!)/.test(this.#text.slice(this.#at)))
        throw this.#problem("looking ahead or behind, as (?=…) does, is not possible here");
      const name = /^<[A-Za-z_]\w*>/.exec(this.#text.slice(this.#at))?.[0];
      if (name !== undefined) this.#at += name.length;
      else if (this.#take(":")) return this.#closed(this.#choice());
      else throw this.#problem("(?i) stands at the very beginning; other flags are not known here");
    }
    const number = ++this.#groups;
    return { kind: "group", part: this.#closed(this.#choice()), number };
  }

  #closed(node: PatternNode): PatternNode {
    if (!this.#take(")")) throw this.#problem('a "(" is not closed; write \\( for the character');
    return node;
  }

  #escape(): PatternNode {
    if (this.#take("b")) return { kind: "assert", what: "word-edge" };
    if (this.#take("B")) return { kind: "assert", what: "no-word-edge" };
    return { kind: "unit", units: this.#escapedUnits() };
  }

  /** After a backslash. */
  #escapedUnits(): Units {
    const character = this.#next();
    switch (character) {
      case "d":
        return digitUnits;
      case "D":
        return everyUnitBut(digitUnits);
      case "w":
        return wordUnits;
      case "W":
        return everyUnitBut(wordUnits);
      case "s":
        return spaceUnits;
      case "S":
        return everyUnitBut(spaceUnits);
      case "t":
        return oneUnit(0x09);
      case "x":
        return oneUnit(this.#hex(2));
      case "u":
        return oneUnit(this.#hex(4));
      case "":
        throw this.#problem("it ends with a backslash; write \\\\ for the character");
      default:
        if (/[1-9k]/.test(character))
          throw this.#problem(`\\${character} refers back to a group, which is not possible here`);
        if (/[A-Za-z0]/.test(character)) throw this.#problem(`\\${character} is not known here`);
        return oneUnit(character.charCodeAt(0));
    }
  }

  #hex(digits: number): number {
    const written = this.#text.slice(this.#at, this.#at + digits);
    if (written.length < digits || !/^[0-9A-Fa-f]+$/.test(written))
      throw this.#problem(`\\x takes two hexadecimal digits, \\u four`);
    this.#at += digits;
    return Number.parseInt(written, 16);
  }

  /** After the opening bracket. */
  #set(): Units {
    const negated = this.#take("^");
    const ranges: (readonly [number, number])[] = [];
    while (!this.#take("]")) {
      const first = this.#member();
      const [low] = first;
      const isRange = this.#peek() === "-" && !["]", ""].includes(this.#text[this.#at + 1] ?? "");
      if (!isRange) {
        ranges.push(...first);
        continue;
      }
      this.#at++;
      const [high] = this.#member();
      if (low === undefined || high === undefined || low[0] !== low[1] || high[0] !== high[1])
        throw this.#problem("a range in [ ] goes from one character to another");
      if (high[0] < low[0]) throw this.#problem("a range in [ ] has its ends the wrong way round");
      ranges.push([low[0], high[0]]);
    }
    if (ranges.length === 0) throw this.#problem("[ ] has nothing in it");
    return negated ? everyUnitBut(ranges) : ranges;
  }

  #member(): Units {
    const character = this.#next();
    if (character === "") throw this.#problem('a "[" is not closed; write \\[ for the character');
    if (/[\uD800-\uDFFF]/.test(character))
      throw this.#problem("[ ] takes no character from beyond U+FFFF; use (a|b)");
    return character === "\\" ? this.#escapedUnits() : oneUnit(character.charCodeAt(0));
  }

  #peek(): string {
    return this.#text[this.#at] ?? "";
  }

  #next(): string {
    const character = this.#peek();
    this.#at++;
    return character;
  }

  #take(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #problem(why: string): Fault {
    const shown = JSON.stringify(this.#text.slice(0, 80));
    return new Fault("invalid_argument", `the pattern ${shown} cannot be used: ${why}`);
  }
}

function unit(character: string): PatternNode {
  return { kind: "unit", units: oneUnit(character.charCodeAt(0)) };
}
