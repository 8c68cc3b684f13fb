import { RE2Set } from "re2js";
import { type CompiledPattern, patternFlags } from "./compiled-pattern.ts";

/**
 * Bytes for the states of the deterministic machine. Usual patterns need a hundredth of it. Patterns that would need
 * more are matched step by step instead, and more memory would only delay that.
 */
const mostStateBytes = 1024 * 1024;

/** Finds which of many patterns occur in a line, all of them in one walk along it. */
export class LineMatcher {
  readonly #set = new RE2Set(RE2Set.UNANCHORED, patternFlags, mostStateBytes);

  constructor(patterns: readonly CompiledPattern[]) {
    for (const { source } of patterns) this.#set.add(source);
    this.#set.compile();
  }

  /** The patterns that occur in a line, by their places in the list, in ascending order. */
  in(line: string): readonly number[] {
    return this.#set.match(line);
  }
}
