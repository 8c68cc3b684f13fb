import { afterAll, beforeEach, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aRequest, aWorker, movableClock, never, silent } from "../execution.fixture.ts";
import { openTestQueues } from "../execution-queue.fixture.ts";
import { leaseReaper } from "./lease-reaper.ts";

const db = await freshDb();
const queues = openTestQueues(db);
afterAll(async () => {
  await queues.closeAll();
  await db.close();
});
beforeEach(() => db.script("truncate execution, worker cascade"));

test("a server that was suspended gives workers the time for one heartbeat, and no more", async () => {
  // Given a lease, and a rescuer that ticks
  const clock = movableClock();
  const queue = await queues.open({ clock });
  const worker = aWorker("w");
  await queue.register(worker);
  await queue.submit(aRequest());
  await queue.claim(worker, 1, 1_000, never);
  const { leaseMs, heartbeatMs } = queue.times;
  const ended: string[] = [];
  let looked = () => {};
  const ticks = async (count: number) => {
    for (let i = 0; i < count; i++) await new Promise<void>((resolve) => (looked = resolve));
  };
  const rescuer = leaseReaper({
    // Signals the end of a check: the query for expired leases is its last part.
    db: {
      ...db,
      async many(row, statement) {
        const rows = await db.many(row, statement);
        looked();
        return rows;
      },
    },
    clock,
    logger: silent,
    everyMs: 5,
    heartbeatMs,
    graceMs: leaseMs,
    cancelGraceMs: 1e9,

    dismiss: async () => {},
    settle: async ({ end }) => void ended.push(end.kind),
  });

  // When everything is suspended for longer than a lease
  await ticks(2);
  clock.pass(60_000);
  await ticks(4);
  const endedOnWaking = [...ended];
  // And then, second by second, a lease's time passes without a heartbeat
  for (let passed = 0; passed < leaseMs; passed += 1_000) {
    clock.pass(1_000);
    await ticks(2);
  }
  await ticks(4);
  await rescuer.stop();

  // Then only the second one ends the lease
  expect(endedOnWaking).toEqual([]);
  expect(ended).toContain("expired");
});
