import { Fault } from "../fault.ts";
import type { Assertion, PatternNode } from "./pattern-syntax.ts";
import { parsePattern } from "./pattern-syntax.ts";
import { inBothCases, type Units } from "./units.ts";

/**
 * A step of a nondeterministic machine (Thompson, 1968). `take` takes one unit; the others take
 * none. Of a `fork`, the first way is preferred, which decides what a group holds.
 */
export type Step =
  | { readonly op: "take"; readonly units: Units; readonly next: number }
  | { readonly op: "fork"; first: number; second: number }
  | { readonly op: "assert"; readonly what: Assertion; readonly next: number }
  /** Remembers a place: where the first group begins (0) or ends (1). */
  | { readonly op: "mark"; readonly end: 0 | 1; readonly next: number }
  | { readonly op: "match" };

export interface Program {
  readonly steps: readonly Step[];
  readonly start: number;
  /** How many groups the pattern has. */
  readonly groups: number;
}

/** So that a line of 4,096 characters costs at most some two million steps a pattern. */
const mostSteps = 500;
const mostEmitted = 5_000;

/** Throws `invalid_argument` for a pattern that cannot be used, with a sentence for people. */
export function compilePattern(pattern: string): Program {
  const { node, groups, ignoreCase } = parsePattern(pattern);
  const steps: Step[] = [];
  const add = (step: Step): number => {
    if (steps.length >= mostSteps) throw tooLarge(pattern);
    return steps.push(step) - 1;
  };
  let emitted = 0;

  /** From the end to the beginning: each part knows what comes after it. */
  function emit(part: PatternNode, next: number): number {
    // What makes no steps may be repeated, too: `((){1000}){1000}`.
    if (++emitted > mostEmitted) throw tooLarge(pattern);
    switch (part.kind) {
      case "unit":
        return add({
          op: "take",
          units: ignoreCase ? inBothCases(part.units) : part.units,
          next,
        });
      case "sequence":
        return part.parts.reduceRight((then, each) => emit(each, then), next);
      case "choice":
        return part.options
          .map((option) => emit(option, next))
          .reduceRight((second, first) => add({ op: "fork", first, second }));
      case "repeat": {
        let at = part.most === Infinity ? endless(part, next) : atMost(part, next);
        for (let i = 0; i < part.least; i++) at = emit(part.part, at);
        return at;
      }
      case "group": {
        if (part.number !== 1) return emit(part.part, next);
        const inside = emit(part.part, add({ op: "mark", end: 1, next }));
        return add({ op: "mark", end: 0, next: inside });
      }
      case "assert":
        return add({ op: "assert", what: part.what, next });
    }
  }

  function endless({ part, lazy }: PatternNode & { kind: "repeat" }, next: number): number {
    const fork: Step & { op: "fork" } = { op: "fork", first: next, second: next };
    const at = add(fork);
    const again = emit(part, at);
    if (lazy) fork.second = again;
    else fork.first = again;
    return at;
  }

  function atMost(
    { part, least, most, lazy }: PatternNode & { kind: "repeat" },
    next: number,
  ): number {
    let at = next;
    for (let i = least; i < most; i++) {
      const once = emit(part, at);
      at = add(
        lazy
          ? { op: "fork", first: next, second: once }
          : { op: "fork", first: once, second: next },
      );
    }
    return at;
  }

  const start = emit(node, add({ op: "match" }));
  return { steps, start, groups };
}

function tooLarge(pattern: string): Fault {
  const shown = JSON.stringify(pattern.slice(0, 80));
  return new Fault(
    "invalid_argument",
    `the pattern ${shown} cannot be used: its repetitions make it too large; repeat less often, or without a limit`,
  );
}
