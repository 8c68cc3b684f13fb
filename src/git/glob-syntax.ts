import { Fault } from "#core/fault.ts";

/** The parts of a glob, in order. */
export type GlobPart =
  | { readonly kind: "literal"; readonly codePoint: number }
  /** `?`: one character except a slash */
  | { readonly kind: "one" }
  /** `[a-z]`, `[!a-z]`: one character except a slash */
  | { readonly kind: "set"; readonly negated: boolean; readonly ranges: readonly CodePointRange[] }
  /** `*`: any number of characters except slashes */
  | { readonly kind: "many" }
  /** `**` + slash: any number of directories */
  | { readonly kind: "directories" }
  /** `**` at the end: everything */
  | { readonly kind: "everything" }
  | { readonly kind: "either"; readonly alternatives: readonly (readonly GlobPart[])[] };

interface CodePointRange {
  readonly from: number;
  readonly to: number;
}

/** The nesting limit for braces; people do not write deeper patterns. */
const maxNesting = 10;

const code = (character: string): number => character.codePointAt(0) ?? 0;

/** Parses one glob, without its leading `!`. Throws `invalid_argument` with the reason. */
export function parseGlob(text: string): GlobPart[] {
  const input = Array.from(text);
  let at = 0;

  function refuse(why: string): never {
    throw new Fault("invalid_argument", `the pattern ${JSON.stringify(text)} ${why}`);
  }

  function parts(nesting: number, beginsSegment: boolean): GlobPart[] {
    const found: GlobPart[] = [];
    let isSegmentStart = beginsSegment;
    for (; at < input.length; isSegmentStart = input[at - 1] === "/") {
      const character = input[at] ?? "";
      if (nesting > 0 && (character === "," || character === "}")) break;
      at++;
      if (character === "*") found.push(stars(isSegmentStart));
      else if (character === "?") found.push({ kind: "one" });
      else if (character === "[") found.push(set());
      else if (character === "{") found.push(either(nesting + 1, isSegmentStart));
      else if (character === "\\") found.push({ kind: "literal", codePoint: escaped() });
      else found.push({ kind: "literal", codePoint: code(character) });
    }
    return found;
  }

  /** Two stars are special only as a whole name; elsewhere they are one. */
  function stars(isSegmentStart: boolean): GlobPart {
    let count = 1;
    for (; input[at] === "*"; at++) count++;
    const next = input[at];
    if (count !== 2 || !isSegmentStart) return { kind: "many" };
    if (next === "/") {
      at++;
      return { kind: "directories" };
    }
    return next === undefined || next === "," || next === "}"
      ? { kind: "everything" }
      : { kind: "many" };
  }

  function escaped(): number {
    const character = input[at++];
    return character === undefined ? refuse("ends with a backslash") : code(character);
  }

  function set(): GlobPart {
    const negated = input[at] === "!" || input[at] === "^";
    if (negated) at++;
    const ranges: CodePointRange[] = [];
    // A closing bracket at the first position belongs to the set.
    for (let isFirst = true; isFirst || input[at] !== "]"; isFirst = false) {
      const from = setMember();
      const isRange = input[at] === "-" && input[at + 1] !== "]" && at + 1 < input.length;
      if (isRange) at++;
      const to = isRange ? setMember() : from;
      if (to < from) refuse("has a range that runs backwards");
      ranges.push({ from, to });
    }
    at++;
    return { kind: "set", negated, ranges };
  }

  function setMember(): number {
    const character = input[at++];
    if (character === undefined) return refuse('has a "[" without "]"');
    if (character === "/") return refuse('has a "/" between brackets');
    return character === "\\" ? escaped() : code(character);
  }

  function either(nesting: number, beginsSegment: boolean): GlobPart {
    if (nesting > maxNesting) refuse(`has braces nested deeper than ${maxNesting}`);
    const alternatives: GlobPart[][] = [];
    while (true) {
      alternatives.push(parts(nesting, beginsSegment));
      const closing = input[at++];
      if (closing === "}") return { kind: "either", alternatives };
      if (closing === undefined) refuse('has a "{" without "}"');
    }
  }

  return parts(0, true);
}
