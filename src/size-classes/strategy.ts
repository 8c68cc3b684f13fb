import type { Choice } from "./choice.ts";
import type { KeyHistory } from "./key-history.ts";
import type { RunEnd } from "./past-run.ts";

export const strategyNames = ["smallest", "largest", "adr", "pagerank", "grange"] as const;
export type StrategyName = (typeof strategyNames)[number];

/** A size class that may be chosen. */
export interface OfferedClass {
  readonly sizeClass: number;
  /** What one action gets there. */
  readonly cpus: number;
  /** Infinity where nothing limits it. */
  readonly memoryBytes: number;
  /** Of one second of one slot, in the farm's unit. */
  readonly price: number;
  /** How long what is submitted now waits for a slot there; 0 where one is free. */
  readonly waitMs: number;
}

/** All that a choice may depend on. The same situation gives the same choice, always. */
export interface Situation {
  /** From the most to the least alike; the first is the action's own. May be empty, and each may know nothing. */
  readonly histories: readonly KeyHistory[];
  /** The least class first; never empty. Already within what the action asks for. */
  readonly classes: readonly OfferedClass[];
  /** What the client allows, or the farm's usual. */
  readonly timeoutMs: number;
  /** ms since 1970. */
  readonly now: number;
  /** In [0, 1): all the chance there is. */
  readonly draw: number;
}

/** How an attempt of the execution at hand ended. */
export interface EndedRun {
  /** The class it ran on, which may be greater than the one chosen. */
  readonly sizeClass: number;
  /** `lost`: its worker is gone, and nobody knows why. */
  readonly end: RunEnd | "lost";
  readonly durationMs: number;
  /** What it was allowed. */
  readonly timeoutMs: number;
  readonly cpuMs?: number | undefined;
  readonly peakMemoryBytes?: number | undefined;
  readonly exitCode?: number | undefined;
}

/** What is to be done after a run. */
export type Next =
  /** The client gets what the run came to. */
  | { readonly kind: "final"; readonly background?: BackgroundRun }
  /** It is run once more; the client hears of that one only. */
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
   * What is to become of an execution whose latest run is over.
   *
   * @param first What `choose` answered for it.
   * @param runs All so far, the latest last; at least one.
   */
  afterwards(situation: Situation, first: Choice, runs: readonly EndedRun[]): Next;
}
