import type { Assertion } from "./pattern-syntax.ts";
import { isAmong, wordUnits } from "./units.ts";

/** What stands beside a place in a line, as far as assertions ask. */
export type Neighbour = "edge" | "word" | "other";

export function neighbourOf(unit: number): Neighbour {
  return isAmong(wordUnits, unit) ? "word" : "other";
}

/** Whether an assertion holds between two neighbours. */
export function holds(what: Assertion, before: Neighbour, after: Neighbour): boolean {
  switch (what) {
    case "line-start":
      return before === "edge";
    case "line-end":
      return after === "edge";
    case "word-edge":
      return (before === "word") !== (after === "word");
    case "no-word-edge":
      return (before === "word") === (after === "word");
  }
}
