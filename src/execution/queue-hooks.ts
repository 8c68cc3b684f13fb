import type { Digest, DigestFunction } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import type { ExecutionId } from "./execution.ts";
import type { FinishedExecution } from "./finishing/finished-execution.ts";

/** Runs once the transaction is committed, and not when it is not. It must not throw. */
export type AfterCommit = () => void;

/** A step of an execution that is not its end. */
export interface Progress {
  readonly id: ExecutionId;
  /** `queued` again, after an attempt that came to nothing; or its process has `started`. */
  readonly kind: "queued" | "started";
  readonly attempt: number;
}

/**
 * What the rest of the farm does when executions move.
 *
 * All but `missingOutputs` run inside the transaction that moves them, so that either both happened or
 * neither. They may be called again for the same executions when that transaction had to be repeated.
 */
export interface QueueHooks {
  /**
   * Blobs that a result names and its project lacks. Asked before the transaction, since it takes time.
   *
   * @param digestFunction That of the digests in the result.
   *
   * Throws `invalid_argument` when the result is no legal one: the execution has then failed.
   */
  missingOutputs?(
    result: Uint8Array,
    digestFunction: DigestFunction,
    project: string,
  ): Promise<readonly Digest[]>;
  /** Those of the executions, which are locked, that somebody waits for; nobody when absent. */
  stillWanted?(tx: Tx, ids: readonly ExecutionId[]): Promise<readonly ExecutionId[]>;
  /**
   * Names of what else moves when these executions end. Asked right behind their locks, so that nobody
   * joins in between; `onFinished` is told. When it is nothing, `recordResults` and `onFinished` send all
   * that they have to send at once: the commit goes with it.
   */
  servedBy?(tx: Tx, ids: readonly ExecutionId[]): Promise<readonly string[]>;
  /**
   * Takes it for granted that `servedBy` would answer nothing, behind the same locks; where it would, the
   * transaction comes to nothing, as `aborted`.
   */
  assumeUnserved?(tx: Tx, ids: readonly ExecutionId[]): Promise<void>;
  /** Keeps the results of those that succeeded and may be cached. */
  recordResults?(tx: Tx, finished: readonly FinishedExecution[]): Promise<void>;
  onFinished?(
    tx: Tx,
    finished: readonly FinishedExecution[],
    served?: readonly string[],
  ): Promise<AfterCommit | undefined>;
  onProgress?(tx: Tx, progress: readonly Progress[]): Promise<AfterCommit | undefined>;
}
