import { RE2JS } from "re2js";
import { Fault } from "../fault.ts";
import { problemOf, tooDeep, tooLarge } from "./pattern-problem.ts";
import { sizeBeforeBuilding } from "./size-before-building.ts";

/** A compiled pattern for one line. Lines contain no newline. */
export interface CompiledPattern {
  /** The pattern in RE2's syntax. */
  readonly source: string;
  /** The number of steps of its automaton: each character of a line executes at most every step once. */
  readonly steps: number;
  /** The number of its groups. */
  readonly groups: number;
  /**
   * Returns the text of the first group in a line, or the whole match when the pattern has no group; undefined when the
   * line does not match or the group did not participate.
   */
  readonly firstGroup: (line: string) => string | undefined;
}

const longestPattern = 500;
const deepest = 50;
/** With this limit, a line of 4,096 characters costs at most about two million steps per pattern. */
const mostSteps = 500;
/** The limit for the estimate, which may be too high; building so many steps takes some ms. */
const mostStepsBuilt = 4 * mostSteps;

/** Classes such as \pL are left out: the 160 that fit into a pattern take 60 ms to build. */
export const patternFlags = RE2JS.DISABLE_UNICODE_GROUPS;

/**
 * Reads a pattern in the syntax of RE2 (https://github.com/google/re2/wiki/Syntax), which contains only features that
 * can be matched in linear time: neither backreferences nor lookaround, for which every known engine can be blocked by
 * a hostile line. In addition, `\uXXXX` is a character, as in JavaScript.
 *
 * Throws `invalid_argument` with a sentence for people.
 */
export function compilePattern(text: string): CompiledPattern {
  if (text === "") throw unusable(text, "it is empty");
  if (text.length > longestPattern)
    throw unusable(text, `it has more than ${longestPattern} characters`);
  const { steps, depth } = sizeBeforeBuilding(text);
  if (depth > deepest) throw unusable(text, tooDeep);
  if (steps > mostStepsBuilt) throw unusable(text, tooLarge);
  const source = asRe2(text);
  const pattern = built(text, source);
  if (pattern.programSize() > mostSteps) throw unusable(text, tooLarge);
  return {
    source,
    steps: pattern.programSize(),
    groups: pattern.groupCount(),
    firstGroup: (line) => pattern.exec(line)?.[pattern.groupCount() === 0 ? 0 : 1],
  };
}

function built(text: string, source: string): RE2JS {
  try {
    return RE2JS.compile(source, patternFlags);
  } catch (reason) {
    throw unusable(text, problemOf(reason), reason);
  }
}

function asRe2(text: string): string {
  return text.replaceAll(/\\(?:u([0-9A-Fa-f]{4})|[\s\S])/g, (escape, hex: string | undefined) => {
    // `sizeBeforeBuilding` does not support literal text between \Q and \E.
    if (escape === "\\Q")
      throw unusable(text, "\\Q is not supported; write \\ before each special character");
    return hex === undefined ? escape : `\\x{${hex}}`;
  });
}

function unusable(text: string, why: string, cause?: unknown): Fault {
  const shown = JSON.stringify(text.slice(0, 80));
  return new Fault("invalid_argument", `the pattern ${shown} cannot be used: ${why}`, { cause });
}
