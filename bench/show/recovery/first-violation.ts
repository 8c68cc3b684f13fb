import type { Violation } from "../../../test/faults/history/history.ts";

/** Returns the end of a sentence that tells the first violation; an empty text when there is none. */
export function firstOf(violations: readonly Violation[]): string {
  const [first] = violations;
  if (first === undefined) return "";
  return `; the first: ${first.promise}, ${first.subject}: ${first.what}`;
}
