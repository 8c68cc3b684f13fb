import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { freshDb } from "../../test/support/fresh-db.ts";
import { aQueue, aWorker, movableClock, servingNobody } from "./execution.fixture.ts";
import type { FinishedExecution } from "./finishing/finished-execution.ts";
import {
  cancelGraceMs,
  compare,
  drain,
  leaseMs,
  mostAttempts,
  step,
  take,
  type World,
} from "./queue-model.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());

test("for any requests in any order, the queue behaves like a simple model of it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(step, fc.nat(1)), { minLength: 5, maxLength: 60 }),
      async (steps) => {
        await db.script("truncate execution, worker cascade");
        const clock = movableClock();
        const ends: FinishedExecution[] = [];
        const hooks = {
          ...servingNobody,
          onFinished: async (_tx: unknown, some: readonly FinishedExecution[]) => () =>
            void ends.push(...some),
        };
        const times = { mostAttempts, leaseMs, cancelGraceMs };
        const queues = [
          await aQueue(db, { clock, hooks, times }),
          await aQueue(db, { clock, hooks, times }),
        ];
        try {
          const workers = [aWorker("a"), aWorker("b"), aWorker("c")];
          for (const worker of workers) await queues[0]?.register(worker);
          const world: World = { queues, clock, workers, expected: new Map(), leases: [] };
          for (const [each, server] of steps) {
            await take(each, server, world);
            await compare(db, world);
          }
          await drain(db, world);
          // Each ended once, and reported its end once.
          expect(ends.map(({ id }) => id).toSorted()).toEqual(
            [...world.expected.keys()].toSorted(),
          );
        } finally {
          await Promise.all(queues.map((queue) => queue.stop()));
        }
      },
    ),
    { numRuns: 40 },
  );
});
