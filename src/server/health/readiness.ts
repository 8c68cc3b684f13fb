import { randomUUID } from "node:crypto";
import { open, statfs, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "#core/clock.ts";
import { isFullDisk } from "#core/full-disk.ts";
import type { Db } from "#db/db.ts";
import { newestMigration } from "#db/migrate.ts";
import { countWorkersSeen } from "#execution/leasing/worker.store.ts";
import { judgeReadiness, type Readiness, type ServerState } from "./judge-readiness.ts";

/** Reports whether this server should get requests, for load balancers and service managers. */
export interface ReadinessProbe {
  /** The result is at most a second old: frequent requests cause at most one check per second. */
  read(): Promise<Readiness>;
  /** Reports the server as not ready from now on, because it stops soon. */
  drain(): void;
}

interface ReadinessOptions {
  readonly db: Db;
  readonly clock: Clock;
  /** Where blobs are written. */
  readonly blobs: string;
  readonly leaseMs: number;
  readonly knownMigration: number;
  /** The time limit for an answer of the database and of the disk. */
  readonly patienceMs?: number;
}

const validMs = 1_000;
/** Probes of service managers usually time out after a second or more, and count failures. */
const usualPatienceMs = 2_000;

export function readinessProbe(options: ReadinessOptions): ReadinessProbe {
  const patienceMs = options.patienceMs ?? usualPatienceMs;
  let isDraining = false;
  let last:
    | { readonly state: Promise<Omit<ServerState, "isDraining">>; readonly at: number }
    | undefined;

  const state = () => {
    const now = performance.now();
    if (last === undefined || now - last.at > validMs)
      last = { state: observe(options, patienceMs), at: now };
    return last.state;
  };
  return {
    read: async () => judgeReadiness({ ...(await state()), isDraining }),
    drain: () => {
      isDraining = true;
    },
  };
}

async function observe(
  { db, clock, blobs, leaseMs, knownMigration }: ReadinessOptions,
  patienceMs: number,
): Promise<Omit<ServerState, "isDraining">> {
  const [database, disk] = await Promise.all([
    within(patienceMs, readDatabase(db, new Date(clock.now().getTime() - leaseMs))).catch(() => ({
      problem: "does not answer",
    })),
    within(patienceMs, writeProbe(blobs)).catch((reason: unknown) => ({
      problem: isFullDisk(reason) ? "no space is left" : "a file cannot be written",
    })),
  ]);
  const workers = "workers" in database ? database.workers : 0;
  return { database, knownMigration, blobs: disk, workers };
}

/** Writes a small file into the directory of the blobs and removes it; this fails on a full or read-only disk. */
async function writeProbe(directory: string): Promise<{ freeBytes: number }> {
  const path = join(directory, `.readiness-${randomUUID()}`);
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile("ready\n");
  } finally {
    await file.close();
    await unlink(path);
  }
  const { bavail, bsize } = await statfs(directory);
  return { freeBytes: bavail * bsize };
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function readDatabase(db: Db, since: Date) {
  const started = performance.now();
  const [newest, workers] = await Promise.all([newestMigration(db), countWorkersSeen(db, since)]);
  return { newestMigration: newest, workers, tookMs: performance.now() - started };
}
