import { RE2Set } from "re2js";
import { type CompiledPattern, patternFlags } from "./compiled-pattern.ts";

/**
 * The memory for the states of the deterministic automaton, in bytes. Typical patterns need a hundredth of it. Patterns
 * that would need more are matched step by step instead, and more memory would only delay that.
 */
const mostStateBytes = 1024 * 1024;

/** Finds which of many patterns occur in a linein one pass over it. */
export class LineMatcher {
  readonly #set = new RE2Set(RE2Set.UNANCHORED, patternFlags, mostStateBytes);

  constructor(patterns: readonly CompiledPattern[]) {
    for (const { source } of patterns) this.#set.add(source);
    this.#set.compile();
  }

  /** Returns the patterns that occur in a line, by their indexes in the list, in ascending order. */
  in(line: string): readonly number[] {
    return this.#set.match(line);
  }
}
