import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "#core/clock.ts";
import type { Db } from "#db/db.ts";
import { startEmbeddedPostgres } from "#db/embedded/embedded-postgres.ts";
import { migrate } from "#db/migrate.ts";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { aRequest, aWorker, never, silent } from "#execution/execution.fixture.ts";
import type { ExecutionQueue } from "#execution/execution-queue.ts";
import { openExecutionQueue } from "#execution/open-execution-queue.ts";
import { submitExecutions } from "#execution/submitting/submit-executions.store.ts";

/** The throughput of the queue, on a database with durable commits (fsync on). `npx tsx bench/queue.ts` */
const dataDir = await mkdtemp(join(tmpdir(), "grange-bench-queue-"));
const server = await startEmbeddedPostgres({ dataDir });
const db = openPostgres({ url: server.url });
try {
  await migrate(db);
  const queue = await openExecutionQueue({ db, clock: systemClock, logger: silent });
  try {
    await benchEnqueue(db, queue);
    await benchNoOps(db, queue);
    await benchLatency(db, queue);
    await benchCrowdedClaims(db, queue);
  } finally {
    await queue.stop();
  }
} finally {
  await db.close();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
}

async function benchEnqueue(db: Db, queue: ExecutionQueue): Promise<void> {
  await rate("enqueue, 1,000 a call", 50_000, async () => {
    for (let i = 0; i < 50; i++) {
      const requests = Array.from({ length: 1_000 }, () => aRequest());
      await db.transaction((tx) => submitExecutions(tx, requests, new Date()));
    }
  });
  await empty(db);
  await rate("enqueue, one at a time", 1_000, async () => {
    for (let i = 0; i < 1_000; i++) await queue.submit(aRequest());
  });
  await empty(db);
  await rate("enqueue, 16 callers", 16_000, async () => {
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (let i = 0; i < 1_000; i++) await queue.submit(aRequest());
      }),
    );
  });
  await empty(db);
}

async function benchNoOps(db: Db, queue: ExecutionQueue): Promise<void> {
  for (const most of [1, 10, 100]) {
    const total = most === 1 ? 1_000 : 20_000;
    await fill(db, total, () => aRequest());
    const worker = aWorker(`no-op-${most}`);
    await queue.register(worker);
    await rate(`claim and finish, ${most} at a time, 4 callers`, total, async () => {
      await Promise.all(
        Array.from({ length: 4 }, async () => {
          while (true) {
            const leased = await queue.claim(worker, most, 50, never);
            if (leased.length === 0) return;
            await Promise.all(leased.map(({ lease }) => finish(queue, lease)));
          }
        }),
      );
    });
    await empty(db);
  }
}

async function benchLatency(db: Db, queue: ExecutionQueue): Promise<void> {
  const worker = aWorker("idle");
  await queue.register(worker);
  const took: number[] = [];
  for (let i = 0; i < 500; i++) {
    const claim = queue.claim(worker, 1, 10_000, never);
    await new Promise((resolve) => setTimeout(resolve, 2));
    const began = performance.now();
    void queue.submit(aRequest());
    const [leased] = await claim;
    took.push(performance.now() - began);
    if (leased) await finish(queue, leased.lease);
  }
  percentiles("submit to claimed, idle worker", took);
  await empty(db);
}

async function benchCrowdedClaims(db: Db, queue: ExecutionQueue): Promise<void> {
  await fill(db, 100_000, (i) => aRequest({ platform: { OSFamily: `other-${i % 50}` } }));
  const worker = aWorker("crowded");
  await queue.register(worker);
  await claims("claim of 1, 100,000 queued for others", db, queue, worker, 500, 1);
  await fill(db, 100_000, (i) => aRequest({ invocation: `i${i % 40}` }));
  await claims("claim of 1, and 100,000 of its own in 40 invocations", db, queue, worker, 500, 1);
  await claims("claim of 16, the same", db, queue, worker, 200, 16);
}

async function claims(
  name: string,
  db: Db,
  queue: ExecutionQueue,
  worker: ReturnType<typeof aWorker>,
  times: number,
  most: number,
): Promise<void> {
  if (most === 1) await fill(db, times, () => aRequest({ priority: -1 }));
  const took: number[] = [];
  for (let i = 0; i < times; i++) {
    const began = performance.now();
    const leased = await queue.claim(worker, most, 10_000, never);
    took.push(performance.now() - began);
    await Promise.all(leased.map(({ lease }) => finish(queue, lease)));
  }
  percentiles(name, took);
}

function finish(queue: ExecutionQueue, lease: Parameters<ExecutionQueue["finish"]>[0]["lease"]) {
  return queue.finish({ lease, outcome: "succeeded", exitCode: 0, result: new Uint8Array(100) });
}

async function fill(db: Db, total: number, request: (i: number) => ReturnType<typeof aRequest>) {
  for (let i = 0; i < total; i += 5_000) {
    const some = Array.from({ length: Math.min(5_000, total - i) }, (_, j) => request(i + j));
    await db.transaction((tx) => submitExecutions(tx, some, new Date()));
  }
}

async function empty(db: Db): Promise<void> {
  await db.run(sql`truncate execution cascade`);
}

async function rate(name: string, count: number, work: () => Promise<void>): Promise<void> {
  const cpu = process.cpuUsage();
  const began = performance.now();
  await work();
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const perSecond = Math.round(count / seconds).toLocaleString("en");
  report(name, `${perSecond}/s, ${((user + system) / count).toFixed(0)} µs of our CPU each`);
}

function percentiles(name: string, ms: number[]): void {
  const sorted = ms.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
  report(name, `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, worst ${sorted.at(-1)?.toFixed(1)} ms`);
}

function report(name: string, figure: string): void {
  process.stdout.write(`${name.padEnd(58)} ${figure}\n`);
}
