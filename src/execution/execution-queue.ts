import type { Service } from "#core/service.ts";
import type { Tx } from "#db/db.ts";
import type { AheadExecution, AheadHint } from "./claiming/look-ahead-service.ts";
import type { ExecutionId, ExecutionRequest } from "./execution.ts";
import type { ExecutionWatch } from "./execution-watch.ts";
import type { HeldCancellation } from "./finishing/cancellation.store.ts";
import type { Verdict } from "./finishing/decide-endings.ts";
import type { FinishReport } from "./finishing/judge-report.ts";
import type { Heartbeat, HeartbeatAnswer } from "./leasing/heartbeat.ts";
import type { Lease, LeasedExecution, WorkerProcess } from "./leasing/lease.ts";
import type { WorkerDescription } from "./leasing/worker.store.ts";
import type { LogAppended } from "./logs/log.store.ts";
import type { AfterCommit } from "./queue-hooks.ts";
import type { QueueTimes } from "./queue-times.ts";
import type { Submitted } from "./submitting/submit-executions.store.ts";

/** The queue's interface on one server. Any number of servers share one database. */
export interface ExecutionQueue extends Service, Pick<ExecutionWatch, "follow" | "waitForEnd"> {
  readonly times: QueueTimes;
  /** Resolves when the request is durable, in one commit with concurrent requests. */
  submit(request: ExecutionRequest): Promise<Submitted>;
  /**
   * Returns the requests with chosen size classes, if there is a choice. Call it before the transaction that submits
   * them, because it may wait for the database. A request that was not passed through it gets the least allowed class.
   */
  chooseSizes(requests: readonly ExecutionRequest[]): Promise<readonly ExecutionRequest[]>;
  /**
   * Submits inside a transaction of `transaction`, together with its other changes. Returns results in the order of the
   * requests.
   */
  submitIn(tx: Tx, requests: readonly ExecutionRequest[]): Promise<Submitted[]>;
  /** Runs a transaction that may submit executions; waiting workers get them with its commit. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Returns those of the executions, which `lockForCancelling` has locked in this transaction, that are still needed.
   */
  stillWanted(tx: Tx, ids: readonly ExecutionId[]): Promise<readonly ExecutionId[]>;
  /**
   * Cancels the executions that nothing waits for any more, inside a transaction. Run the returned function after the
   * commit.
   */
  cancel(tx: Tx, ids: readonly ExecutionId[]): Promise<AfterCommit>;

  /**
   * Waits until the workers of these executions, and of their second runs, have confirmed the requested cancellation,
   * or these have ended: from then on none of their processes starts. Returns the executions for which this is not
   * certain after `withinMs`.
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
   * Registers a worker. Executions that another process of its name held go back to the queue.
   *
   * Returns how long its leases last without a heartbeat, in ms. Throws `already_exists` for a process that was
   * replaced while its replacement is alive.
   */
  register(worker: WorkerDescription): Promise<number>;
  /** Waits for work; returns an empty list without work. Throws `not_found` for an unknown worker. */
  claim(
    worker: WorkerProcess,
    most: number,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<LeasedExecution[]>;
  /** Returns the executions that a worker will probably get next; a hint, and empty for an unknown worker. */
  lookAhead(worker: WorkerProcess, most: number): Promise<AheadExecution[]>;
  /**
   * Adds a hint about an action similar to one that will be submitted soon, for workers that look ahead on this server.
   */
  hintAhead(hint: AheadHint): void;
  heartbeat(beat: Heartbeat): Promise<HeartbeatAnswer>;
  /** Whether the lease is still held. */
  started(lease: Lease, at: Date): Promise<boolean>;
  release(leases: readonly Lease[]): Promise<void>;
  finish(report: FinishReport): Promise<Verdict>;
  /** Returns undefined when the lease has ended. */
  appendLog(chunk: {
    readonly lease: Lease;
    readonly offset: number;
    readonly bytes: Uint8Array;
  }): Promise<LogAppended | undefined>;
  /** Calls `grown` when the log of an execution grew, on any server; with undefined when any log may have grown. */
  onLog(grown: (id: ExecutionId | undefined) => void): () => void;

  /** Ends expired leases, as the queue itself does regularly. */
  rescue(): Promise<number>;
  /** Begins and ends second runs, as the queue itself does regularly. */
  lookAfterHedges(): Promise<void>;
}
