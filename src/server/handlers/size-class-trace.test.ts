import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPostgres } from "#db/postgres.ts";
import { aRequest, aWorker, movableClock, never } from "#execution/execution.fixture.ts";
import { openTestQueues } from "#execution/execution-queue.fixture.ts";
import { readTrace } from "#simulate/read-trace.ts";
import { declareClass } from "#size-classes/declared-classes.store.ts";
import { aDeclaredClass } from "#size-classes/size-classes.fixture.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { readServerConfig } from "../config.ts";
import { type RunningServer, startServer } from "../start-server.ts";

const databaseUrl = await freshDatabase();
const db = openPostgres({ url: databaseUrl });
const queues = openTestQueues(db);
const begunAt = Date.now() - 3_600_000;
let dataDir: string;
let server: RunningServer;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-trace-"));
  const config = readServerConfig({ dataDir, databaseUrl, port: 0, host: "127.0.0.1" }, {});
  server = await startServer(config, pino({ level: "silent" }));
});
afterAll(async () => {
  await queues.closeAll();
  await server.stop();
  await db.close();
  await rm(dataDir, { recursive: true });
});

async function traceSince(since: string) {
  const response = await fetch(`${server.url}/api/v1/size-classes/trace?since=${since}`);
  if (response.body === null || !response.ok) throw new Error(`${response.status}`);
  return readTrace(response.body);
}

/** Executes this many actions, one every second; each takes half a second. */
async function executeAll(count: number): Promise<void> {
  const clock = movableClock(begunAt);
  const queue = await queues.open({ clock });
  const worker = aWorker("w", { sizeClass: 4, cpus: 4, memoryBytes: 2 ** 34, slots: count });
  await queue.register(worker);
  const similarityKeys = ["a.1", "t.2", "m.3", "p.4"];
  const usage = { userMs: 1_000, systemMs: 100, peakMemoryBytes: 5e8, measuredBy: "proc" };
  for (let i = 0; i < count; i += 1) {
    await queue.submit(aRequest({ similarityKeys, sizeClass: 4, timeoutMs: 90_000 }));
    const [held] = await queue.claim(worker, 1, 5_000, never);
    if (held === undefined) throw new Error("nothing was handed out");
    await queue.started(held.lease, clock.now());
    clock.pass(500);
    const failed = i === 0;
    await queue.finish({
      lease: held.lease,
      outcome: failed ? "failed" : "succeeded",
      exitCode: failed ? 1 : 0,
      result: new Uint8Array(),
      usage,
    });
    clock.pass(500);
  }
}

test("what a farm executed comes as a trace that a simulation reads", async () => {
  // More than a page; executions of the same millisecond are on both sides of its end.
  await executeAll(3);
  const copies = 1_200;
  await db.script(`
    insert into execution (id, project, domain, action_digest, requirements, size_class, invocation, lane,
      place, priority, timeout_ms, do_not_cache, state, attempt, epoch, queued_at, finished_at, outcome, kin)
    select gen_random_uuid(), project, domain, action_digest, requirements, size_class, invocation, lane,
      place, priority, timeout_ms, do_not_cache, 'finished', 1, 1, queued_at, finished_at, outcome, kin
    from (select * from execution where outcome = 'succeeded' limit 1) as one,
      generate_series(1, ${copies});
    insert into execution_attempt (execution_id, attempt, epoch, worker, leased_at, started_at,
      finished_at, outcome, message, size_class, timeout_ms)
    select id, 1, 1, 'w', queued_at, queued_at, finished_at, 'succeeded', '', 4, 90000
    from execution where not exists (select from execution_attempt where execution_id = id);
  `);

  const { header, executions } = await traceSince("2h");

  expect(header.classes.length).toBeGreaterThan(0);
  expect(executions).toHaveLength(3 + copies);
  const [first] = executions;
  expect(first).toMatchObject({
    keys: { action: "p a.1", target: "p t.2", mnemonic: "p m.3", platform: "p p.4" },
    // 500 ms on 4 CPUs with 1100 ms of CPU time: s + p = 1100, s + p / 4 = 500.
    serialMs: 300,
    parallelMs: 800,
    width: 4,
    peakMemoryBytes: 5e8,
    timeoutMs: 90_000,
    failsAt: 1,
  });
  // About one hour after the start of the two hours.
  expect(Math.abs((first?.at ?? 0) - 3_600_000)).toBeLessThan(120_000);
  await expect(traceSince("1m")).rejects.toThrow("no executions");
});

test.each(["soon", "0s", "900d", ""])("not since %j", async (since) => {
  await expect(traceSince(since)).rejects.toThrow("400");
});

test("the classes of a trace are those of the farm: what is there stays, what is declared comes and goes", async () => {
  const queue = await queues.open({ clock: { now: () => new Date() } });
  await queue.register(aWorker("there", { sizeClass: 16, cpus: 16, slots: 3 }));
  await declareClass(db, aDeclaredClass({ sizeClass: 32, mostWorkers: 5, slotsPerWorker: 2 }));

  const { header } = await traceSince("2h");

  expect(header.classes.find(({ sizeClass }) => sizeClass === 16)?.pool).toEqual({
    kind: "fixed",
    workers: 3,
  });
  expect(header.classes.find(({ sizeClass }) => sizeClass === 32)?.pool).toMatchObject({
    kind: "elastic",
    most: 10,
  });
});
