import { pino } from "pino";
import { afterAll, expect, test } from "vitest";
import type { Db } from "#db/db.ts";
import { aRequest, aWorker, never } from "#execution/execution.fixture.ts";
import { openExecutionQueue } from "#execution/open-execution-queue.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { startIdleWatch } from "./idle-watch.ts";
import { hasOpenWorkBy } from "./open-work.store.ts";

const clock = { now: () => new Date() };
const logger = pino({ level: "silent" });
const db = await freshDb();
afterAll(() => db.close());

/** A server's database that loses all notifications. */
const deaf: Db = { ...db, listen: async () => ({ stop: async () => {} }) };

test("on an idle farm, a waiting claim gets work whose notification was lost", async () => {
  const idle = await startIdleWatch({
    db: deaf,
    logger,
    channels: ["changes"],
    hasOpenWork: (withinMs) => hasOpenWorkBy(deaf, new Date(Date.now() + withinMs)),
    settleMs: 20,
    checkMs: 10,
  });
  const queue = await openExecutionQueue({ db: deaf, clock, logger, idle });
  const submitter = await openExecutionQueue({ db, clock, logger });
  const worker = aWorker("w");
  await queue.register(worker);
  const claim = queue.claim(worker, 1, 30_000, never);
  // From now on the queue checks for work only once a minute.
  await expect.poll(() => idle.isIdle()).toBe(true);

  const request = aRequest();
  await submitter.submit(request);

  expect((await claim).map(({ lease }) => lease.executionId)).toEqual([request.id]);
  await Promise.all([queue.stop(), submitter.stop(), idle.stop()]);
});
