import { afterAll, expect, test } from "vitest";
import { systemClock } from "#core/clock.ts";
import type { Db } from "#db/db.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aWorker } from "../execution.fixture.ts";
import { heartbeatBatches } from "./heartbeat-batches.ts";
import { registerWorkers } from "./worker.store.ts";

const db = await freshDb();
afterAll(() => db.close());

test("heartbeats of idle workers share a transaction; one with other contents does not wait", async () => {
  const workers = ["a", "b", "c", "d"].map((name) => aWorker(name));
  await registerWorkers(db, workers, new Date());
  const [a, b, c, d] = workers.map((worker) => ({ worker, leases: [], draining: false }));
  if (!a || !b || !c || !d) throw new Error("a worker is missing");
  let transactions = 0;
  const counting: Db = {
    ...db,
    transaction(work, kind) {
      transactions++;
      return db.transaction(work, kind);
    },
  };
  const beating = heartbeatBatches({
    db: counting,
    clock: systemClock,
    leaseMs: 15_000,
    heartbeatMs: 600_000,
    hooks: {},
  });

  await beating.add(a);
  expect(transactions).toBe(1);
  const waiting = [beating.add(b), beating.add(c)];
  expect(await beating.add({ ...d, draining: true })).toMatchObject({ isUnknown: false });
  expect(transactions).toBe(2);
  await beating.idle();

  expect(transactions).toBe(3);
  expect(await Promise.all(waiting)).toMatchObject([{ isUnknown: false }, { isUnknown: false }]);
});
