import { setMaxListeners } from "node:events";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { aRequest, aWorker, movableClock, never } from "./execution.fixture.ts";
import { openTestQueues } from "./execution-queue.fixture.ts";
import type { ExecutionQueue } from "./execution-queue.ts";
import type { Lease } from "./leasing/lease.ts";
import { readExecutions } from "./read-executions.store.ts";
import { submitExecutions } from "./submitting/submit-executions.store.ts";

const url = await freshDatabase();
const db = openPostgres({ url, applicationName: "servers" });
const admin = openPostgres({ url, applicationName: "admin", poolSize: 1 });
afterAll(async () => {
  await db.close();
  await admin.close();
});
const queues = openTestQueues(db);
beforeEach(() => db.script("truncate execution, worker cascade"));
afterEach(() => queues.closeAll());

test("of an end, an expiry and a cancellation at two servers, one takes effect, and the end is announced once", async () => {
  const clock = movableClock();
  const [one, two] = [await queues.open({ clock }), await queues.open({ clock })];
  const worker = aWorker("w");
  await one.register(worker);
  const claimOne = async () => {
    // The other server's notice that the worker was silent in the round before may come late, and ends a claim.
    for (;;) {
      const [held] = await one.claim(worker, 1, 5_000, never);
      if (held !== undefined) return held.lease;
    }
  };
  for (let i = 0; i < 40; i++) {
    await one.submit(aRequest());
    const lease = await claimOne();
    clock.pass(one.times.leaseMs);

    const [verdict] = await Promise.all([
      one.finish({ lease, outcome: "failed", exitCode: 1 }),
      two.rescue(),
      one.rescue(),
      two.transaction((tx) => two.cancel(tx, [lease.executionId])).then((after) => after()),
    ]);

    const [view] = await readExecutions(db, [lease.executionId]);
    // Refused: back in the queue and cancelled there, cancelled while held, or left in the queue.
    const possible = verdict === "accepted" ? ["failed"] : ["queued", "cancelled"];
    expect(possible).toContain(view?.finished?.outcome ?? view?.state.kind);
    if (view?.finished === undefined)
      await one.transaction((tx) => one.cancel(tx, [lease.executionId])).then((after) => after());
  }

  const ids = () => queues.finished.map(({ id }) => id);
  expect(ids()).toHaveLength(40);
  expect(new Set(ids()).size).toBe(40);
});

test("an execution that was joined cannot end before the join is stored", async () => {
  const queue = await queues.open();
  const worker = aWorker("w");
  await queue.register(worker);
  const first = aRequest();
  await queue.submit(first);
  const [held] = await queue.claim(worker, 1, 5_000, never);
  if (held === undefined) throw new Error("nothing was handed out");
  const order: string[] = [];
  let finish: Promise<unknown> | undefined;

  await queue.transaction(async (tx) => {
    const [joined] = await submitExecutions(
      tx,
      [aRequest({ actionDigest: first.actionDigest })],
      new Date(),
    );
    expect(joined).toMatchObject({ executionId: first.id, isNew: false });
    finish = queue
      .finish({ lease: held.lease, outcome: "failed", exitCode: 1 })
      .then(() => order.push("finished"));
    await untilSomebodyWaitsForALock();
    order.push("remembered");
  });
  await finish;

  expect(order).toEqual(["remembered", "finished"]);
});

test.each<
  [string, boolean, (two: ExecutionQueue, lease: Lease, pass: () => void) => Promise<unknown>]
>([
  ["its start", true, (two, lease) => two.started(lease, new Date(Date.UTC(2030, 0, 1)))],
  [
    "the loss of its lease",
    false,
    async (two, _lease, pass) => {
      pass();
      await two.rescue();
    },
  ],
])(
  "an end that is reported to one server is recorded once after another server recorded %s",
  async (_, hasStart, change) => {
    const clock = movableClock();
    const [one, two] = [await queues.open({ clock }), await queues.open({ clock })];
    const worker = aWorker("w");
    await one.register(worker);
    const request = aRequest();
    await one.submit(request);
    const [held] = await one.claim(worker, 1, 5_000, never);
    if (held === undefined) throw new Error("nothing was handed out");
    await change(two, held.lease, () => clock.pass(one.times.leaseMs));

    const report = { lease: held.lease, by: worker, outcome: "failed", exitCode: 1 } as const;
    expect(await one.finish(report)).toBe("accepted");

    expect(queues.finished.map(({ id }) => id)).toEqual([request.id]);
    const attempts = await db.many(
      z.object({ outcome: z.string(), hasStart: z.boolean(), finishedCount: z.number() }),
      sql`
      select outcome, started_at is not null as "hasStart", finished_count::integer as "finishedCount"
      from execution_attempt join worker on worker.name = execution_attempt.worker
      where execution_id = ${request.id}
    `,
    );
    expect(attempts).toEqual([{ outcome: "failed", hasStart, finishedCount: 1 }]);
  },
);

test("an end that waits for the lock of its execution sees who joined it before", async () => {
  const served: (readonly string[])[] = [];
  await db.script("create table if not exists joined (id uuid primary key); truncate joined");
  const queue = await queues.open({
    hooks: {
      async servedBy(tx, ids) {
        const rows = await tx.many(
          z.object({ id: z.string() }),
          sql`select id from joined where id = any(${ids}::uuid[])`,
        );
        return rows.map(({ id }) => id);
      },
      async assumeUnserved(tx, ids) {
        await tx.run(sql`
          select assume(not exists (select from joined where id = any(${ids}::uuid[])), 'nobody has joined')
        `);
      },
      async onFinished(_tx, _finished, by) {
        served.push(by ?? []);
        return undefined;
      },
    },
  });
  const worker = aWorker("w");
  await queue.register(worker);
  const request = aRequest();
  await queue.submit(request);
  const [held] = await queue.claim(worker, 1, 5_000, never);
  if (held === undefined) throw new Error("nothing was handed out");
  let finish: Promise<unknown> | undefined;

  await db.transaction(async (tx) => {
    await tx.run(sql`select from execution where id = ${request.id} for update`);
    finish = queue.finish({ lease: held.lease, outcome: "failed", exitCode: 1 });
    await untilSomebodyWaitsForALock();
    await tx.run(sql`insert into joined values (${request.id})`);
  });

  expect(await finish).toBe("accepted");
  expect(served.at(-1)).toEqual([request.id]);
});

test("when connections are killed, no accepted execution is lost, and none ends twice", async () => {
  const times = {
    leaseMs: 300,
    rescueEveryMs: 50,
    pollMs: 50,
    sweepEveryMs: 100,
    mostAttempts: 100,
  };
  const clock = { now: () => new Date() };
  const servers = [await queues.open({ times, clock }), await queues.open({ times, clock })];
  const stopped = new AbortController();
  setMaxListeners(0, stopped.signal);
  const workers = servers.map((queue, i) => work(queue, `w${i}`, stopped.signal));
  const accepted: Promise<string | undefined>[] = [];

  for (let i = 0; i < 60; i++) {
    for (const queue of servers)
      for (let n = 0; n < 5; n++)
        accepted.push(
          queue.submit(aRequest()).then(
            ({ executionId }) => executionId,
            () => undefined,
          ),
        );
    if (i % 5 === 4) {
      await admin.many(
        z.object({}),
        sql`select pg_terminate_backend(pid) from pg_stat_activity
            where application_name = 'servers' and state <> 'idle' and datname = current_database()`,
      );
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  const ids = (await Promise.all(accepted)).filter((id) => id !== undefined);
  const ends = await Promise.all(
    ids.map((id) => waitThroughFailures(servers[0] as ExecutionQueue, id)),
  );
  stopped.abort();
  await Promise.all(workers);

  // Some failed because of a broken connection; the accepted ones must have ended.
  expect(ids.length).toBeGreaterThan(0);
  expect(ends.every(({ outcome }) => outcome === "succeeded")).toBe(true);
  const attempts = await db.many(
    z.object({ id: z.string(), published: z.number() }),
    sql`select execution_id as id, count(*) as published from execution_attempt
        where outcome = 'succeeded' group by execution_id having count(*) > 1`,
  );
  expect(attempts).toEqual([]);
});

async function untilSomebodyWaitsForALock(): Promise<void> {
  const waiting = await admin.many(
    z.object({ pid: z.number() }),
    sql`select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
  );
  if (waiting.length === 0) await untilSomebodyWaitsForALock();
}

async function work(queue: ExecutionQueue, name: string, signal: AbortSignal): Promise<void> {
  const worker = aWorker(name);
  while (!signal.aborted) {
    try {
      await queue.register(worker);
      while (!signal.aborted) {
        const leased = await queue.claim(worker, 10, 100, signal);
        await Promise.allSettled(
          leased.map(({ lease }) =>
            queue.finish({ lease, outcome: "succeeded", exitCode: 0, result: new Uint8Array() }),
          ),
        );
      }
    } catch {
      // The connection was killed; a worker retries.
    }
  }
}

async function waitThroughFailures(queue: ExecutionQueue, id: string) {
  while (true) {
    try {
      return await queue.waitForEnd(id as Parameters<ExecutionQueue["waitForEnd"]>[0], never);
    } catch {
      // As above.
    }
  }
}
