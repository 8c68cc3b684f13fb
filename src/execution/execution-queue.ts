import type { Service } from "#core/service.ts";
import type { Tx } from "#db/db.ts";
import type { AheadExecution, AheadHint } from "./claiming/look-ahead-service.ts";
import type { ExecutionId, ExecutionRequest } from "./execution.ts";
import type { ExecutionWatch } from "./execution-watch.ts";
import type { HeldCancellation } from "./finishing/cancellation.store.ts";
import type { FinishReport } from "./finishing/judge-report.ts";
import type { Verdict } from "./finishing/settle-leases.ts";
import type { Heartbeat, HeartbeatAnswer } from "./leasing/heartbeat.ts";
import type { Lease, LeasedExecution, WorkerProcess } from "./leasing/lease.ts";
import type { WorkerDescription } from "./leasing/worker.store.ts";
import type { LogAppended } from "./logs/log.store.ts";
import type { AfterCommit } from "./queue-hooks.ts";
import type { QueueTimes } from "./queue-times.ts";
import type { Submitted } from "./submitting/submit-executions.store.ts";

/** The queue as one server sees it. Any number of servers share one database. */
export interface ExecutionQueue extends Service, Pick<ExecutionWatch, "follow" | "waitForEnd"> {
  readonly times: QueueTimes;
  /** Resolves when the request is durable, together with what was submitted meanwhile. */
  submit(request: ExecutionRequest): Promise<Submitted>;
  /**
   * The requests with the size classes on which they are to run, where there is a choice. Before the transaction
   * that submits them, since it may wait for the database. Who leaves it out gets the least class that will do.
   */
  chooseSizes(requests: readonly ExecutionRequest[]): Promise<readonly ExecutionRequest[]>;
  /** Submits inside a transaction of `transaction`, together with what else becomes true. In their order. */
  submitIn(tx: Tx, requests: readonly ExecutionRequest[]): Promise<Submitted[]>;
  /** Runs a transaction that may submit executions; waiting workers get them with its commit. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Those of the executions, which `lockForCancelling` has locked in this transaction, that somebody waits for. */
  stillWanted(tx: Tx, ids: readonly ExecutionId[]): Promise<readonly ExecutionId[]>;
  /** Cancels those that nobody waits for, inside a transaction. Run what it answers after the commit. */
  cancel(tx: Tx, ids: readonly ExecutionId[]): Promise<AfterCommit>;

  /**
   * Waits until the workers that hold those of the executions that are to be cancelled, and second runs of them, have
   * confirmed it, or these are over: from then on no process of theirs starts. Answers those of which that is not
   * known after `withinMs`.
   */
  untilCancelled(ids: readonly ExecutionId[], withinMs: number): Promise<HeldCancellation[]>;
  /** See `CancellationService`. */
  cancellations(
    worker: WorkerProcess,
    confirmed: readonly Lease[],
    waitMs: number,
    signal: AbortSignal,
  ): Promise<readonly Lease[]>;

  /**
   * Makes a worker known. What another process of its name held goes back to the queue.
   *
   * Answers how long its leases last without a heartbeat, in ms. Throws `already_exists` for one that
   * was replaced, while the other one is alive.
   */
  register(worker: WorkerDescription): Promise<number>;
  /** Waits for work; nothing when there was none. Throws `not_found` for a worker nobody knows. */
  claim(
    worker: WorkerProcess,
    most: number,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<LeasedExecution[]>;
  /** What a worker is likely to be given next; a hint, and nothing for a worker that nobody knows. */
  lookAhead(worker: WorkerProcess, most: number): Promise<AheadExecution[]>;
  /** Tells of an action like one that will be submitted soon, for workers that look ahead at this server. */
  hintAhead(hint: AheadHint): void;
  heartbeat(beat: Heartbeat): Promise<HeartbeatAnswer>;
  /** Whether the lease is still held. */
  started(lease: Lease, at: Date): Promise<boolean>;
  release(leases: readonly Lease[]): Promise<void>;
  finish(report: FinishReport): Promise<Verdict>;
  /** Undefined when the lease is over. */
  appendLog(chunk: {
    readonly lease: Lease;
    readonly offset: number;
    readonly bytes: Uint8Array;
  }): Promise<LogAppended | undefined>;
  /** Calls `grown` when the log of an execution grew, at whichever server; with undefined when any may have. */
  onLog(grown: (id: ExecutionId | undefined) => void): () => void;

  /** Takes back leases that are over, as the queue does by itself all the time. */
  rescue(): Promise<number>;
  /** Begins and ends second runs, as the queue does by itself all the time. */
  lookAfterHedges(): Promise<void>;
}
