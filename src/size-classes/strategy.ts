import type { Choice } from "./choice.ts";
import type { KeyHistory } from "./key-history.ts";
import type { RunEnd } from "./past-run.ts";

export const strategyNames = ["smallest", "largest", "adr", "pagerank", "grange"] as const;
export type StrategyName = (typeof strategyNames)[number];

/** A size class that may be chosen. */
export interface OfferedClass {
  readonly sizeClass: number;
  /** The CPUs that one action gets there. */
  readonly cpus: number;
  /** Infinity where nothing limits it. */
  readonly memoryBytes: number;
  /** The price of one second of one slot, in the farm's unit. */
  readonly price: number;
  /** How long an execution that is submitted now waits for a slot there; 0 where one is free. */
  readonly waitMs: number;
}

/** All that a choice may depend on. The same situation gives the same choice, always. */
export interface Situation {
  /** From the most to the least similar; the first is the action's own. May be empty, and each may have no runs. */
  readonly histories: readonly KeyHistory[];
  /** The smallest class first; never empty. Already within the bounds of the action. */
  readonly classes: readonly OfferedClass[];
  /** The client's timeout, or the farm's default. */
  readonly timeoutMs: number;
  /** ms since 1970. */
  readonly now: number;
  /** A random number in [0, 1), the only source of chance. */
  readonly draw: number;
}

/** How an attempt of the current execution ended. */
export interface EndedRun {
  /** The class it ran on, which may be greater than the one chosen. */
  readonly sizeClass: number;
  /** `lost`: its worker has gone, for an unknown reason. */
  readonly end: RunEnd | "lost";
  readonly durationMs: number;
  /** The timeout that it had. */
  readonly timeoutMs: number;
  readonly cpuMs?: number | undefined;
  readonly peakMemoryBytes?: number | undefined;
  readonly exitCode?: number | undefined;
}

/** The decision after a run. */
export type Next =
  /** The client gets the result of the run. */
  | { readonly kind: "final"; readonly background?: BackgroundRun }
  /** It runs again; the client gets only that result. */
  | { readonly kind: "again"; readonly choice: Choice };

/** The action once more, when there is time, to learn how it does on another class. */
export interface BackgroundRun {
  readonly sizeClass: number;
  readonly timeoutMs: number;
  readonly expectedMs: number;
}

/** Chooses size classes, and again after runs that came to nothing. Pure. */
export interface Strategy {
  readonly name: StrategyName;
  choose(situation: Situation): Choice;
  /**
   * Decides about an execution whose latest run has ended.
   *
   * @param first The choice of `choose` for it. @param runs All runs so far, the latest last; at least one.
   */
  afterwards(situation: Situation, first: Choice, runs: readonly EndedRun[]): Next;
}
