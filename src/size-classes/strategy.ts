import type { Choice } from "./choice.ts";
import type { KeyHistory } from "./key-history.ts";
import type { RunEnd } from "./past-run.ts";

export const strategyNames = ["smallest", "largest", "adr", "pagerank", "grange"] as const;
export type StrategyName = (typeof strategyNames)[number];

/** A size class that may be chosen. */
export interface OfferedClass {
  readonly sizeClass: number;
  /** The CPUs for one action. */
  readonly cpus: number;
  /** Infinity when there is no limit. */
  readonly memoryBytes: number;
  /** The price of one second of one slot, in the farm's unit. */
  readonly price: number;
  /** How long an execution that is submitted now waits for a slot there; 0 when one is free. */
  readonly waitMs: number;
}

/** All inputs of a choice. The same situation always gives the same choice. */
export interface Situation {
  /**
   * From the most to the least similar; the first is the action's own. The list may be empty, and each history may have
   * no runs.
   */
  readonly histories: readonly KeyHistory[];
  /** The smallest class first; never empty. Already within the limits of the action. */
  readonly classes: readonly OfferedClass[];
  /** The client's timeout, or the farm's default. */
  readonly timeoutMs: number;
  /** The current time, in ms since 1970. */
  readonly now: number;
  /** A random number in [0, 1), the only source of chance. */
  readonly draw: number;
}

/** The end of an attempt of the current execution. */
export interface EndedRun {
  /** The class on which it ran, which may be larger than the chosen one. */
  readonly sizeClass: number;
  /** `lost`: its worker disappeared, for an unknown reason. */
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

/** Another run of the action, when a worker is idle, to measure it on another class. */
export interface BackgroundRun {
  readonly sizeClass: number;
  readonly timeoutMs: number;
  readonly expectedMs: number;
}

/** Chooses size classes, and chooses again after failed runs. Pure. */
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
