import type { Db } from "#db/db.ts";
import { aQueue, servingNobody } from "./execution.fixture.ts";
import type { ExecutionQueue } from "./execution-queue.ts";
import type { FinishedExecution } from "./finishing/finished-execution.ts";

/** Opens queues on one database, like several servers, and collects all executions that they report as finished. */
export function openTestQueues(db: Db) {
  const queues: ExecutionQueue[] = [];
  const finished: FinishedExecution[] = [];
  return {
    finished,
    async open(parts: Parameters<typeof aQueue>[1] = {}) {
      const queue = await aQueue(db, {
        hooks: {
          ...servingNobody,
          async onFinished(_tx, some) {
            return () => void finished.push(...some);
          },
        },
        ...parts,
      });
      queues.push(queue);
      return queue;
    },
    async closeAll() {
      await Promise.all(queues.splice(0).map((queue) => queue.stop()));
      finished.length = 0;
    },
  };
}
