import type { RunEnd } from "#size-classes/past-run.ts";

export type RunPurpose = "first" | "retry" | "hedge" | "background";

/** A run that is over. */
export interface RunRecord {
  /** Its execution's place in the trace. */
  readonly execution: number;
  readonly purpose: RunPurpose;
  /** The one it ran on, by place in the trace's header. */
  readonly classIndex: number;
  /** Within its class. */
  readonly worker: number;
  readonly startedAt: number;
  readonly endedAt: number;
  /** `cancelled`: another run of its execution was first. */
  readonly end: RunEnd | "lost" | "cancelled";
  /** Seeds the action's own chance; counts runs that were not lost. */
  readonly attempt: number;
}

/** The outcome of an execution, as its client sees it. */
export interface ExecutionRecord {
  readonly submittedAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly end: RunEnd | "lost";
  /** Of the run that the client heard of. */
  readonly classIndex: number;
  readonly attempt: number;
}

export interface WorkerRecord {
  readonly classIndex: number;
  /** Within its class. */
  readonly id: number;
  /** Paid from here to there. */
  readonly since: number;
  readonly until: number;
  readonly busyMs: number;
}

/** All that happened. */
export interface Simulated {
  readonly strategy: string;
  /** By their place in the trace. */
  readonly executions: readonly ExecutionRecord[];
  /** In the order of their ends. */
  readonly runs: readonly RunRecord[];
  readonly workers: readonly WorkerRecord[];
}
