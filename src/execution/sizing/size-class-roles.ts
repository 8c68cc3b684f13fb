import type { Platform } from "#core/platform.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { ExecutionId, ExecutionRequest, Outcome } from "../execution.ts";
import type { RequestedSizeClasses } from "./requested-size-classes.ts";

// The queue's interface to size classes: the three roles from Buildbarn's ADR 7. Its Selector is `Analyzed.select`; the
// state that a Learner needs between servers is in `SizeDecision`.

/** A size class for an execution, with its timeout and expected duration there. */
export interface ChosenSize {
  readonly sizeClass: number;
  /** Whether only this class is allowed; otherwise an idle worker of a greater class may run it. */
  readonly isExact: boolean;
  readonly expectedDurationMs: number;
  readonly timeoutMs: number;
  /** A second run on a greater class, if the first runs for longer than this. */
  readonly hedge: { readonly afterMs: number; readonly sizeClass: number } | undefined;
  /** Stored with the execution. */
  readonly decision: SizeDecision;
}

/** The stored reason for a class. The queue reads only its purpose. */
interface SizeDecision {
  readonly key: string;
  readonly strategy: string;
  readonly decidedAt: Date;
  readonly draw: number;
  readonly backgroundSizeClass: number | undefined;
  readonly pageRank: Readonly<Record<string, number>> | undefined;
  readonly reason: Readonly<Record<string, unknown>>;
  readonly alternatives: readonly object[];
}

/** Computes fingerprints of executions. */
export interface Analyzer {
  /**
   * Returns a selector for each of the requests. May wait for the database; holds no lock, and never throws: if
   * statistics cannot be read, the choice is made without them.
   */
  analyze(requests: readonly ExecutionRequest[]): Promise<readonly Selector[]>;
  /** Returns a learner for an execution whose lease ends; undefined when no class was chosen for it. Never throws. */
  learner(id: ExecutionId): Promise<Learner | undefined>;
  /** Whether learners may request another run after a success. */
  readonly learnsFromSuccess: boolean;
}

export interface Selector {
  /** Returns undefined when there is no choice, because at most one class can run it. */
  select(): ChosenSize | undefined;
}

/** Is notified of the end of a run, and decides the next step. */
export interface Learner {
  ended(run: EndedRun): AfterAttempt;
}

/**
 * A finished run. An end that only reports a failed machine is `worker_lost`; the learner is not called for other such
 * ends.
 */
export interface EndedRun {
  readonly sizeClass: number;
  readonly outcome: Extract<
    Outcome,
    "succeeded" | "failed" | "timed_out" | "out_of_memory" | "worker_lost"
  >;
  readonly durationMs: number;
  readonly timeoutMs: number;
  readonly exitCode: number | undefined;
  readonly cpuMs: number | undefined;
  readonly peakMemoryBytes: number | undefined;
}

export type AfterAttempt =
  /** The result is for the client; `background` requests one more run when there is time. */
  | { readonly kind: "final"; readonly background: BackgroundRun | undefined }
  | { readonly kind: "again"; readonly chosen: ChosenSize };

export interface BackgroundRun {
  readonly chosen: ChosenSize;
  /** If this many of its class already wait, no further one is queued. */
  readonly mostWaiting: number;
}

/** The facts about an execution that a learner needs, apart from statistics. */
export interface SizedExecution {
  readonly id: ExecutionId;
  readonly project: string;
  readonly domain: TrustDomain;
  readonly similarityKeys: readonly string[];
  readonly requirements: Platform;
  readonly asked: RequestedSizeClasses;
  readonly requestedTimeoutMs: number;
  readonly decisions: readonly (Omit<ChosenSize, "hedge"> & { readonly number: number })[];
  readonly attempts: readonly EndedRun[];
}
