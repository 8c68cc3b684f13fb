import type { Choice } from "#size-classes/choice.ts";
import type { EndedRun } from "#size-classes/strategy.ts";
import type { RunResult } from "./first-stopping-event.ts";
import type { RunPurpose } from "./records.ts";
import type { TraceExecution } from "./trace.ts";
import type { SimulatedWorker } from "./worker-pool.ts";

/** The part of a run that the strategy decides. */
export type RequestedRun = Pick<
  Choice,
  "sizeClass" | "isExact" | "expectedMs" | "timeoutMs" | "hedge"
>;

/** A run from the queue to its end. */
export interface Run {
  readonly of: Underway;
  /** The index of its execution in the trace. */
  readonly place: number;
  readonly purpose: RunPurpose;
  /** The index of the chosen class in the header; a larger class may take the run. */
  readonly wanted: number;
  readonly isExact: boolean;
  readonly expectedMs: number;
  readonly timeoutMs: number;
  readonly hedge: Choice["hedge"];
  state: RunState;
}

type RunState =
  | { readonly kind: "waiting" }
  | {
      readonly kind: "running";
      readonly worker: SimulatedWorker;
      readonly startedAt: number;
      readonly attempt: number;
      /** The result that it will have unless it is cancelled. */
      readonly result: RunResult;
    }
  | { readonly kind: "over" };

/** An execution after its submission. */
export interface Underway {
  readonly execution: TraceExecution;
  readonly index: number;
  first: Choice | undefined;
  /** Ended runs, as strategies see them, and the times of their ends. */
  readonly ended: EndedRun[];
  readonly endedAt: Map<EndedRun, number>;
  /** The runs that were added to the farm's memory. */
  readonly remembered: Set<EndedRun>;
  hasVerdict: boolean;
  /** The runs that wait or run, without the background run. */
  live: Run[];
  /** The number of started runs, and of those that were not lost. */
  begun: number;
  attempts: number;
  /** The number of calls of the strategy. */
  choices: number;
  lost: number;
  startedAt: number | undefined;
}

export function underwayOf(execution: TraceExecution, index: number): Underway {
  return {
    execution,
    index,
    first: undefined,
    ended: [],
    endedAt: new Map(),
    remembered: new Set(),
    hasVerdict: false,
    live: [],
    begun: 0,
    attempts: 0,
    choices: 0,
    lost: 0,
    startedAt: undefined,
  };
}

export function asEndedRun(result: RunResult): EndedRun {
  const { sizeClass, end, durationMs, timeoutMs, cpuMs, peakMemoryBytes, exitCode } = result;
  return { sizeClass, end, durationMs, timeoutMs, cpuMs, peakMemoryBytes, exitCode };
}
