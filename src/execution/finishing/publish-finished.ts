import type { Tx } from "#db/db.ts";
import { together } from "#db/together.ts";
import type { AfterCommit, QueueHooks } from "../queue-hooks.ts";
import type { FinishedExecution } from "./finished-execution.ts";

/** Whether the action cache may keep the result of an execution. A non-zero exit is never kept. */
function isCacheable(finished: FinishedExecution): boolean {
  return (
    finished.outcome === "succeeded" &&
    finished.exitCode === 0 &&
    finished.result !== undefined &&
    !finished.doNotCache
  );
}

/** Notifies the rest of the farm, in the same transaction, that executions have ended. */
export async function publishFinished(
  tx: Tx,
  finished: readonly FinishedExecution[],
  hooks: QueueHooks,
  served?: readonly string[],
): Promise<AfterCommit | undefined> {
  if (finished.length === 0) return undefined;
  const cacheable = finished.filter(isCacheable);
  const [, after] = await together([
    cacheable.length > 0 ? hooks.recordResults?.(tx, cacheable) : undefined,
    hooks.onFinished?.(tx, finished, served),
  ]);
  return after;
}
