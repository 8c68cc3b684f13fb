import type { Db } from "#db/db.ts";
import { commitWithoutWaiting } from "../claiming/prefer-indexes.store.ts";
import type { ExecutionId } from "../execution.ts";
import { appendLogChunk, type LogAppended, type LogChunk } from "./log.store.ts";

/** Is called when the log of an execution grew; undefined: any log may have grown. */
type LogListener = (id: ExecutionId | undefined) => void;

/** The logs of executions that run. */
export interface LogService {
  /** Returns undefined when the lease of the chunk is no longer held. */
  append(chunk: LogChunk): Promise<LogAppended | undefined>;
  /** Returns the function that ends the listening. */
  onLog(grown: LogListener): () => void;
  /** Tells listeners that a log grew, here or on another server. */
  grew: LogListener;
}

export function logService(db: Db): LogService {
  const listeners = new Set<LogListener>();
  const grew: LogListener = (id) => {
    for (const grown of listeners) grown(id);
  };
  return {
    grew,
    async append(chunk) {
      const appended = await db.transaction(async (tx) => {
        // The worker keeps the log; after a crash it sends the missing part again.
        await commitWithoutWaiting(tx);
        return appendLogChunk(tx, chunk);
      });
      if (appended?.accepted) grew(chunk.lease.executionId);
      return appended;
    },
    onLog(grown) {
      listeners.add(grown);
      return () => listeners.delete(grown);
    },
  };
}
