import { fileURLToPath } from "node:url";
import { systemClock } from "#core/clock.ts";
import type { Db } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { aRequest, aWorker, never, silent } from "#execution/execution.fixture.ts";
import type { ExecutionQueue } from "#execution/execution-queue.ts";
import { openExecutionQueue } from "#execution/open-execution-queue.ts";
import { submitExecutions } from "#execution/submitting/submit-executions.store.ts";
import { takeReadyJobs } from "#graphs/ready-job.store.ts";
import { type Percentiles, percentilesOf, withBenchDatabase } from "./bench-database.ts";
import { storeJobs } from "./store-jobs.ts";

interface ClaimLoad {
  /** Executions in the queue. */
  readonly queued: number;
  /** Blocked jobs, which must not slow down claims. */
  readonly blocked: number;
  /** The number of measured claims. */
  readonly claims: number;
  /** The number of invocations among which the executions are divided. */
  readonly lanes: number;
  /** The number of different requested platforms. The worker serves them all, which is the most expensive case. */
  readonly requirementsKinds: number;
}

export interface ClaimTimes extends Percentiles {
  /** Taking ready jobs for preparation, the other search for work. */
  readonly ready: Percentiles;
}

/**
 * Measures how long a worker's claim takes on a full queue, in milliseconds, while others submit, claim and finish.
 *
 * On its own database. Each claim takes one execution and is answered at once.
 */
export function measureClaims(load: ClaimLoad): Promise<ClaimTimes> {
  return withBenchDatabase(async (db) => {
    const queue = await openExecutionQueue({ db, clock: systemClock, logger: silent });
    try {
      const readyPerTake = 16;
      await storeJobs(db, { blocked: load.blocked, ready: load.claims * readyPerTake });
      const request = (i: number) => requestOf(load, i);
      for (let i = 0; i < load.queued; i += 5_000) {
        const some = Array.from({ length: Math.min(5_000, load.queued - i) }, (_, j) =>
          request(i + j),
        );
        await db.transaction((tx) => submitExecutions(tx, some, new Date()));
      }
      return await withTraffic(queue, request, load, async (worker) => {
        const claims: number[] = [];
        const takes: number[] = [];
        for (let i = 0; i < load.claims; i++) {
          claims.push(await timed(() => claimAndForget(queue, worker)));
          takes.push(await timed(() => takeReadyJobs(db, readyPerTake, 15)));
          await prepared(db);
        }
        return { ...percentilesOf(claims), ready: percentilesOf(takes) };
      });
    } finally {
      await queue.stop();
    }
  });
}

function requestOf({ lanes, requirementsKinds }: ClaimLoad, i: number) {
  return aRequest({
    invocation: `graph-${i % lanes}`,
    platform: { OSFamily: "linux", [`tool-${Math.floor(i / lanes) % requirementsKinds}`]: "1" },
    priority: [0, 0, 0, -100, 100][i % 5] ?? 0,
  });
}

type Worker = ReturnType<typeof aWorker>;

/** Runs `work` while two submitters and two other workers run continuously. */
async function withTraffic<T>(
  queue: ExecutionQueue,
  request: (i: number) => ReturnType<typeof aRequest>,
  load: ClaimLoad,
  work: (worker: Worker) => Promise<T>,
): Promise<T> {
  const platform = Object.fromEntries([
    ["OSFamily", "linux"],
    ...Array.from({ length: load.requirementsKinds }, (_, kind) => [`tool-${kind}`, "1"]),
  ]);
  const workers = ["measured", "other-1", "other-2"].map((name) => aWorker(name, { platform }));
  for (const worker of workers) await queue.register(worker);
  const [measured, ...others] = workers as [Worker, ...Worker[]];
  let isOver = false;
  const traffic = [
    ...[1, 2].map(async (n) => {
      for (let i = n; !isOver; i += 2) await queue.submit(request(i));
    }),
    ...others.map(async (worker) => {
      while (!isOver) await claimAndFinish(queue, worker);
    }),
  ];
  try {
    return await work(measured);
  } finally {
    isOver = true;
    await Promise.all(traffic);
  }
}

async function claimAndFinish(queue: ExecutionQueue, worker: Worker): Promise<void> {
  const leased = await queue.claim(worker, 1, 1_000, never);
  for (const { lease } of leased)
    await queue.finish({ lease, outcome: "succeeded", exitCode: 0, result: new Uint8Array(100) });
}

/** Finishes the claimed execution in the background. */
async function claimAndForget(queue: ExecutionQueue, worker: Worker): Promise<void> {
  const leased = await queue.claim(worker, 1, 10_000, never);
  if (leased.length === 0) throw new Error("the queue has run dry; measure with more");
  for (const { lease } of leased)
    void queue.finish({ lease, outcome: "succeeded", exitCode: 0, result: new Uint8Array(100) });
}

/** Claimed jobs leave the ready ones, as after their preparation. */
async function prepared(db: Db): Promise<void> {
  await db.run(
    sql`update job set state = 'queued' where state = 'ready' and preparing_until is not null`,
  );
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** `npx tsx bench/claims.ts` */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const usual = { queued: 100_000, claims: 1_000, lanes: 40, requirementsKinds: 8 };
  const loads: readonly ClaimLoad[] = [
    { ...usual, blocked: 0 },
    { ...usual, blocked: 100_000 },
    { ...usual, blocked: 100_000, lanes: 256, requirementsKinds: 1 },
    { ...usual, blocked: 100_000, lanes: 1_000, requirementsKinds: 20, claims: 300 },
  ];
  for (const load of process.argv[2] === undefined
    ? loads
    : [JSON.parse(process.argv[2]) as ClaimLoad]) {
    const { ready, ...claim } = await measureClaims(load);
    const inMs = ({ p50, p99, worst }: Percentiles) =>
      `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, worst ${worst.toFixed(1)} ms`;
    process.stdout.write(
      `${JSON.stringify(load)}\n  claim  ${inMs(claim)}\n  ready  ${inMs(ready)}\n`,
    );
  }
}
