import type { Digest, DigestFunction } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import type { ExecutionId } from "./execution.ts";
import type { FinishedExecution } from "./finishing/finished-execution.ts";

/** A function that runs only after the transaction has committed. It must not throw. */
export type AfterCommit = () => void;

/** A step of an execution that is not its end. */
export interface Progress {
  readonly id: ExecutionId;
  /** `queued` again, after a failed attempt; or its process has `started`. */
  readonly kind: "queued" | "started";
  readonly attempt: number;
}

/**
 * The hooks through which the rest of the farm reacts to executions.
 *
 * All but `missingOutputs` run inside the transaction that changes the executions, so that both changes commit
 * together. They may be called again for the same executions when that transaction is repeated.
 */
export interface QueueHooks {
  /**
   * Returns the blobs that a result refers to and its project lacks. Called before the transaction, because it takes
   * time.
   *
   * @param digestFunction The function of the digests in the result.
   *
   * Throws `invalid_argument` when the result is illegal: the execution has then failed.
   */
  missingOutputs?(
    result: Uint8Array,
    digestFunction: DigestFunction,
    project: string,
  ): Promise<readonly Digest[]>;
  /** Returns those of the executions, which are locked, that are still needed; none when absent. */
  stillWanted?(tx: Tx, ids: readonly ExecutionId[]): Promise<readonly ExecutionId[]>;
  /**
   * Returns the names of other objects that change when these executions end, such as graphs. Called right after their
   * locks, so that nothing joins in between; `onFinished` gets the result. When it is empty, `recordResults` and
   * `onFinished` send all of their statements at once, and the commit with them.
   */
  servedBy?(tx: Tx, ids: readonly ExecutionId[]): Promise<readonly string[]>;
  /**
   * Assumes that `servedBy` would return nothing, and takes the same locks; if the assumption is wrong, the transaction
   * fails with `aborted`.
   */
  assumeUnserved?(tx: Tx, ids: readonly ExecutionId[]): Promise<void>;
  /** Stores the results of successful executions that may be cached. */
  recordResults?(tx: Tx, finished: readonly FinishedExecution[]): Promise<void>;
  onFinished?(
    tx: Tx,
    finished: readonly FinishedExecution[],
    served?: readonly string[],
  ): Promise<AfterCommit | undefined>;
  onProgress?(tx: Tx, progress: readonly Progress[]): Promise<AfterCommit | undefined>;
}
