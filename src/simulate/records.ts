import type { RunEnd } from "#size-classes/past-run.ts";

export type RunPurpose = "first" | "retry" | "hedge" | "background";

/** A run that has ended. */
export interface RunRecord {
  /** The index of its execution in the trace. */
  readonly execution: number;
  readonly purpose: RunPurpose;
  /** The index of its class in the trace's header. */
  readonly classIndex: number;
  /** The number of the worker within its class. */
  readonly worker: number;
  readonly startedAt: number;
  readonly endedAt: number;
  /** `cancelled`: another run of its execution ended first. */
  readonly end: RunEnd | "lost" | "cancelled";
  /** The seed of the action's own random events; counts runs that were not lost. */
  readonly attempt: number;
}

/** The outcome of an execution, as its client sees it. */
export interface ExecutionRecord {
  readonly submittedAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly end: RunEnd | "lost";
  /** The class of the run whose result the client got. */
  readonly classIndex: number;
  readonly attempt: number;
}

export interface WorkerRecord {
  readonly classIndex: number;
  /** The number within its class. */
  readonly id: number;
  /** The worker is paid from this time until its end. */
  readonly since: number;
  readonly until: number;
  readonly busyMs: number;
}

/** All events of a simulation. */
export interface Simulated {
  readonly strategy: string;
  /** By their index in the trace. */
  readonly executions: readonly ExecutionRecord[];
  /** In the order of their ends. */
  readonly runs: readonly RunRecord[];
  readonly workers: readonly WorkerRecord[];
}
