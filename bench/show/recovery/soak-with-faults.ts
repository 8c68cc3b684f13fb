import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import fc from "fast-check";
import { z } from "zod";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { postgresProcessesOf } from "../../../test/faults/farm-processes.ts";
import { checkHistory } from "../../../test/faults/history/history.ts";
import {
  jobsEach,
  type ObservedLoad,
  observedLoad,
  untilAnswered,
} from "../../../test/faults/history/observed-load.ts";
import { type KilledPart, killPart } from "../../../test/faults/history/random-kills.ts";
import { type Farm, startFarm } from "../../../test/support/farm.ts";
import { farmDatabaseUrl } from "../../../test/support/farm-database-url.ts";
import { atMost, exactly, type Measurement, type Row } from "../row.ts";
import { memoryOf } from "../start/memory-of.ts";
import { firstOf } from "./first-violation.ts";

const defaultMinutes = 120;
const jobsAMinute = 300;
/** The mean time between two faults, in ms. */
const betweenFaultsMs = 60_000;
/** A farm keeps its graphs and executions for this time after their end, in ms. */
const keepMs = 5 * 60_000;
/** Tasks that remove old data run every ten minutes, so nothing is constant before two of them. */
const warmUpMinutes = 20;
/** The largest growth from the middle to the end. */
const mostGrowth = 1.2;

/** The server is killed less often than its tasks run, which would otherwise never run. */
const faults: readonly KilledPart[] = [
  ...Array.from({ length: 8 }, () => "worker" as const),
  ...Array.from({ length: 8 }, () => "backend" as const),
  ...Array.from({ length: 3 }, () => "postmaster" as const),
  "server",
];

export const soakWithFaults: Measurement = {
  title: "soak with faults",
  long: true,
  async measure({ minutes = defaultMinutes }) {
    const farm = await startFarm({ workers: 2, env: { GRANGE_STORE_LIMIT: "200M" } });
    const load = await observedLoad(farm);
    try {
      await keepLittle(farm);
      return await soak(farm, load, minutes);
    } finally {
      await farm.stop();
      await load.remove();
    }
  },
};

async function soak(farm: Farm, load: ObservedLoad, minutes: number): Promise<Row[]> {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const over = new AbortController();
  const submitting = submitSteadily(load, over.signal);
  const killing = killNowAndThen(farm, seed, over.signal);
  const startMinutes = Math.min(warmUpMinutes, minutes / 4);
  const halfMinutes = (minutes - startMinutes) / 2;
  await delay(startMinutes * 60_000);
  const start = await figuresOf(farm);
  await delay(halfMinutes * 60_000);
  const middle = await figuresOf(farm);
  await delay(halfMinutes * 60_000);
  const end = await figuresOf(farm);
  over.abort();
  const kills = await killing;
  await submitting;
  const violations = checkHistory(load.history);
  const how =
    `${minutes} minutes, ${load.graphs.length * jobsEach} jobs, ${kills} kills of a worker, a backend, the postmaster or the ` +
    `server, seed ${seed}; graphs and executions are kept for ${keepMs / 60_000} minutes after their end`;
  const growth = (what: string, key: keyof Figures, unit: string) =>
    atMost(
      `${what} at the end, compared with the middle`,
      end[key] / middle[key],
      mostGrowth,
      "×",
      `the same run; after ${startMinutes} minutes ${start[key]} ${unit}, in the middle ${middle[key]}, at the end ${end[key]}`,
    );
  return [
    exactly(
      "promises broken in a soak with faults",
      violations.length,
      0,
      "",
      `${how}${firstOf(violations)}`,
    ),
    growth("memory of server, workers and PostgreSQL", "memoryMib", "MiB"),
    growth("open files of server and workers", "files", ""),
    growth("rows of all tables", "rows", ""),
    growth("disk space of the data directory", "diskMib", "MiB"),
  ];
}

/** Submits a graph at each interval, and reads each to its end. Resolves when all have ended. */
async function submitSteadily(load: ObservedLoad, over: AbortSignal): Promise<void> {
  const everyMs = 60_000 / (jobsAMinute / jobsEach);
  const reading: Promise<unknown>[] = [];
  while (!over.aborted) {
    // A submission during a fault waits, and the next one does not wait for it.
    reading.push(load.submit().then(({ id }) => load.readToItsEnd(id)));
    await delay(everyMs);
  }
  await Promise.all(reading);
}

/** Returns the number of kills. */
async function killNowAndThen(farm: Farm, seed: number, over: AbortSignal): Promise<number> {
  // Not `fc.double`, which draws very small numbers most of the time.
  const pauseMs = fc.integer({ min: 0, max: 2 * betweenFaultsMs });
  const draw = fc.sample(fc.tuple(fc.constantFrom(...faults), pauseMs), {
    numRuns: 10_000,
    seed,
  });
  let kills = 0;
  for (const [part, ms] of draw) {
    await delay(ms, undefined, { signal: over }).catch(() => {});
    if (over.aborted) break;
    await killPart(farm, part);
    kills++;
  }
  return kills;
}

/** Makes the farm remove what has ended some minutes ago. */
async function keepLittle(farm: Farm): Promise<void> {
  const put = async (path: string, body: object) => {
    const answer = await fetch(`${farm.url}/api/v1${path}`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!answer.ok)
      throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`);
  };
  for (const branch of ["*", "@protected"])
    await put("/retention/rules", { repository: "*", branch, keepMs });
  for (const kind of ["executions", "invocations", "audit"])
    await put("/retention/ages", { kind, keepMs });
}

interface Figures {
  readonly memoryMib: number;
  readonly files: number;
  readonly rows: number;
  readonly diskMib: number;
}

async function figuresOf(farm: Farm): Promise<Figures> {
  const programs = [farm.server, ...farm.workers].map(({ pid }) => pid);
  const all = [...programs, ...(await postgresProcessesOf(farm.dataDir))];
  const kib = all.reduce((sum, pid) => sum + memoryOf(pid).pssKib, 0);
  const open = await Promise.all(
    programs.map((pid) => readdir(`/proc/${pid}/fd`).catch((): string[] => [])),
  );
  const { stdout } = await promisify(execFile)("du", [
    "--summarize",
    "--block-size=1M",
    farm.dataDir,
  ]).catch(
    // A file that is removed meanwhile makes it fail after it has counted the others.
    (reason: { readonly stdout: string }) => reason,
  );
  return {
    memoryMib: Math.round(kib / 1_024),
    files: open.flat().length,
    rows: await untilAnswered(() => rowsOf(farm)),
    diskMib: Number.parseInt(stdout, 10),
  };
}

const Name = z.object({ name: z.string() });
const Count = z.object({ count: z.number() });

async function rowsOf(farm: Farm): Promise<number> {
  const db = openPostgres({ url: await farmDatabaseUrl(farm), poolSize: 1 });
  try {
    const tables = await db.many(
      Name,
      sql`select quote_ident(relname) as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
    );
    const counts = tables.map(({ name }) => `select count(*) from ${name}`).join(" union all ");
    const all = await db.many(Count, { text: counts, values: [] });
    return all.reduce((sum, { count }) => sum + count, 0);
  } finally {
    await db.close();
  }
}
