import { randomUUID } from "node:crypto";
import { z } from "zod";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { insertGraph, keepCatalog } from "#graphs/graph.store.ts";
import { GraphId } from "#graphs/graph-id.ts";
import { beginServerJobs } from "#graphs/kinds/begin-server-jobs.ts";
import { endServerJobs } from "#graphs/kinds/end-server-jobs.ts";
import { nextDue } from "#graphs/kinds/server-job.store.ts";
import { Webhooks } from "#graphs/kinds/webhooks.ts";
import { nameRepository } from "#graphs/repository.store.ts";
import { withBenchDatabase } from "./bench-database.ts";
import { jobsPerPush, type Push, somePushes } from "./day-of-dummies.ts";

interface DayRequested {
  /** The approximate number of all jobs. */
  readonly jobs: number;
  /** Pushes; by default as many as their 127 jobs each make `jobs`. */
  readonly graphs?: number;
  readonly seed: number;
  /** Jobs end at multiples of this. Default: 30. */
  readonly gridSeconds?: number;
  /** Called regularly with the number of ended jobs and the total. */
  readonly progress?: (over: number, jobs: number, seconds: number) => void;
}

export interface DayReplayed {
  readonly jobs: number;
  readonly graphs: number;
  readonly runs: number;
  /** Changes of a job's state: ready, running, succeeded … */
  readonly transitions: number;
  readonly seconds: number;
  readonly jobsPerSecond: number;
  readonly transitionsPerSecond: number;
  /** The slowest tenth of the replay: the speed with full tables. */
  readonly slowestTransitionsPerSecond: number;
  readonly databaseBytes: number;
  readonly bytesPerJob: number;
  /** The seconds of the database's statements, and of this process's own work. They overlap. */
  readonly sqlSeconds: number;
  readonly jsSeconds: number;
  readonly transactions: number;
  /** The number of jobs in each final state. */
  readonly states: Readonly<Record<string, number>>;
}

const dayMs = 24 * 3_600_000;
/** Distinct pushes; more would only make the preparation longer. */
const kindsOfPush = 40;

/** Replays a day's jobs on its own database, with a clock that jumps from one event to the next. */
export function replayDay(asked: DayRequested): Promise<DayReplayed> {
  return withBenchDatabase((db) => replayDayOn(db, asked));
}

async function replayDayOn(db: Db, asked: DayRequested): Promise<DayReplayed> {
  const { gridSeconds = 30, seed } = asked;
  const count = asked.graphs ?? Math.ceil(asked.jobs / jobsPerPush);
  const jobs = count * jobsPerPush;
  const pushes = await somePushes(kindsOfPush, seed, gridSeconds);
  const repository = await db.transaction(async (tx) => {
    for (const { catalog } of pushes) await keepCatalog(tx, catalog);
    return nameRepository(tx, "https://example.invalid/day.git");
  });

  const begin = new Date("2026-01-05T00:00:00Z").getTime();
  const gridMs = gridSeconds * 1_000;
  const arrival = (n: number) =>
    begin +
    Math.floor((n * dayMs) / (asked.graphs ?? Math.ceil(1_000_000 / jobsPerPush)) / gridMs) *
      gridMs;
  const blobs = memoryBlobStore();
  const services = { db, inProject: () => ({ store: blobs }), webhooks: new Webhooks([]) };
  const startedCpu = process.cpuUsage();
  const startedAt = performance.now();
  const marks: { readonly seconds: number; readonly over: number }[] = [];
  let arrived = 0;
  let ended = 0;
  let now = new Date(begin);
  let lastMark = 0;

  for (;;) {
    const come: Push[] = [];
    for (; arrived < count && arrival(arrived) <= now.getTime(); arrived++)
      come.push(pushes[arrived % pushes.length] as Push);
    if (come.length > 0) await store(db, repository, come);
    for (let more = 1; more > 0; ) {
      const begun = await beginServerJobs(services, now);
      const over = await endServerJobs(db, now);
      ended += over;
      more = begun + over;
    }
    const seconds = (performance.now() - startedAt) / 1_000;
    if (seconds - lastMark >= 5) {
      lastMark = seconds;
      marks.push({ seconds, over: ended });
      asked.progress?.(ended, jobs, seconds);
    }
    const due = await nextDue(db);
    const next = arrived < count ? arrival(arrived) : undefined;
    if (due === undefined && next === undefined) break;
    now = new Date(
      Math.min(due?.getTime() ?? Number.POSITIVE_INFINITY, next ?? Number.POSITIVE_INFINITY),
    );
  }

  const seconds = (performance.now() - startedAt) / 1_000;
  const cpu = process.cpuUsage(startedCpu);
  const measured = await measure(db);
  const { transitions } = measured;
  const perEnd = transitions / Math.max(1, ended);
  const rates = marks.slice(1).map((mark, i) => {
    const before = marks[i] ?? mark;
    return ((mark.over - before.over) / (mark.seconds - before.seconds)) * perEnd;
  });
  return {
    jobs,
    graphs: count,
    runs: measured.runs,
    transitions,
    seconds,
    jobsPerSecond: jobs / seconds,
    transitionsPerSecond: transitions / seconds,
    slowestTransitionsPerSecond:
      rates.toSorted((a, b) => a - b)[Math.floor(rates.length / 10)] ?? transitions / seconds,
    databaseBytes: measured.bytes,
    bytesPerJob: measured.bytes / jobs,
    sqlSeconds: measured.activeMs / 1_000,
    jsSeconds: (cpu.user + cpu.system) / 1_000_000,
    transactions: measured.transactions,
    states: measured.states,
  };
}

/** Stores graphs like a submission, several per transaction. */
async function store(db: Db, repository: string, pushes: readonly Push[]): Promise<void> {
  await db.transaction(async (tx) => {
    for (const { catalog, begun } of pushes) {
      await insertGraph(tx, {
        id: GraphId.parse(randomUUID()),
        repository,
        commit: "0".repeat(40),
        rev: "main",
        subject: "A change",
        author: "Somebody",
        committedAt: new Date(0),
        parameters: {},
        domain: protectedDomain,
        skipCache: false,
        catalog,
        branch: "main",
        switches: {},
        priority: 0,
        top: false,
        submittedBy: "bench",
        begun,
      });
    }
  });
}

const Measured = z.object({
  runs: z.number(),
  transitions: z.number(),
  bytes: z.number(),
  activeMs: z.number(),
  transactions: z.number(),
  states: z.record(z.string(), z.number()),
});

async function measure(db: Db): Promise<z.infer<typeof Measured>> {
  const [row] = await db.many(
    Measured,
    sql`
      -- A run makes its job ready, running and over; a join is over when it begins; who cannot run is unreachable.
      select (select count(*) from run) as runs,
             (select 3 * count(*) filter (where kind <> 'join') + count(*) filter (where kind = 'join')
              from run join job on job.graph_id = run.graph_id and job.name = run.job)
               + (select count(*) from job where state = 'unreachable') as transitions,
             pg_database_size(current_database()) as bytes,
             stat.active_time as "activeMs", stat.xact_commit as transactions,
             (select jsonb_object_agg(state, n) from (select state, count(*) as n from job group by state) as s) as states
      from pg_stat_database as stat
      where stat.datname = current_database()
    `,
  );
  if (row === undefined) throw new Error("the database does not know itself");
  return row;
}
