import { afterAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { intervalsPerIdleHeartbeat } from "#core/idle-heartbeats.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aWorker, movableClock } from "../execution.fixture.ts";
import { openTestQueues } from "../execution-queue.fixture.ts";

const db = await freshDb();
const queues = openTestQueues(db);
afterAll(async () => {
  await queues.closeAll();
  await db.close();
});
beforeEach(() => db.script("truncate execution, worker cascade"));

test("a restarted worker gets its name at once, and the process that it replaced cannot take it back", async () => {
  const queue = await queues.open({ clock: movableClock() });
  const [first, second] = [aWorker("w"), aWorker("w")];
  await queue.register(first);
  await queue.register(second);

  await expect(queue.register(first)).rejects.toMatchObject({
    code: "already_exists",
    message: "there is already a worker w; use another --name",
  });
  await queue.register(second);
  expect(await queue.heartbeat({ worker: second, leases: [], draining: false })).toMatchObject({
    isUnknown: false,
  });
});

test("a worker that was replaced gets its name back when the other process is silent", async () => {
  const clock = movableClock();
  const queue = await queues.open({ clock });
  const [first, second] = [aWorker("w"), aWorker("w")];
  await queue.register(first);
  await queue.register(second);

  clock.pass(2 * intervalsPerIdleHeartbeat * queue.times.heartbeatMs + 1);
  await queue.register(first);

  expect(await queue.heartbeat({ worker: first, leases: [], draining: false })).toMatchObject({
    isUnknown: false,
  });
});

test("a server that missed the change has the right holder of the name after one more change", async () => {
  const clock = movableClock();
  const [one, two] = [await queues.open({ clock }), await queues.open({ clock })];
  const [first, second] = [aWorker("w"), aWorker("w")];
  await one.register(first);
  await two.register(second);

  await expect(one.register(first)).rejects.toMatchObject({ code: "already_exists" });
});

test("when two processes register a name at the same time, the second one gets it", async () => {
  const queue = await queues.open({ clock: movableClock() });
  const [first, second] = [aWorker("w"), aWorker("w")];
  await Promise.all([queue.register(first), queue.register(second)]);

  const beat = (worker: typeof first) => queue.heartbeat({ worker, leases: [], draining: false });

  expect(await Promise.all([beat(first), beat(second)])).toMatchObject([
    { isUnknown: true },
    { isUnknown: false },
  ]);
});

test("a worker that is refused does not disturb those that register at the same time", async () => {
  const queue = await queues.open({ clock: movableClock() });
  const [replaced, holder] = [aWorker("w"), aWorker("w")];
  await queue.register(replaced);
  await queue.register(holder);

  const others = Array.from({ length: 300 }, (_, n) => aWorker(`other-${n}`));
  const settled = await Promise.allSettled(
    [replaced, ...others].map((worker) => queue.register(worker)),
  );

  expect(settled.map(({ status }) => status)).toEqual([
    "rejected",
    ...others.map(() => "fulfilled"),
  ]);
  expect(await db.many(z.object({ count: z.number() }), sql`select count(*) from worker`)).toEqual([
    { count: 301 },
  ]);
});
