import { randomUUID } from "node:crypto";
import { open, statfs, unlink } from "node:fs/promises";
import { join } from "node:path";
import { cachedFor } from "#core/cached-for.ts";
import type { Clock } from "#core/clock.ts";
import { isFullDisk } from "#core/full-disk.ts";
import { inTime } from "#core/in-time.ts";
import type { Db } from "#db/db.ts";
import { readSchemaVersion } from "#db/migrate.ts";
import type { ReadReplicas } from "#db/read-replicas.ts";
import { countWorkersSeen } from "#execution/leasing/worker.store.ts";
import { judgeReadiness, type Readiness, type ServerState } from "./judge-readiness.ts";

/** Reports whether this server should get requests, for load balancers and service managers. */
export interface ReadinessProbe {
  /** The result is at most a second old: frequent requests cause at most one check per second. */
  read(): Promise<Readiness>;
  /**
   * Yields whether the server is ready: at once, and after each change, which is noticed within a second. Ends when
   * `signal` is aborted, and when the probe is closed.
   */
  watch(signal: AbortSignal): AsyncIterable<boolean>;
  /** Reports the server as not ready from now on, because it stops soon. */
  drain(): void;
  /** Ends all watches. */
  close(): void;
}

interface ReadinessOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly replicas: Pick<ReadReplicas, "look">;
  /** Where blobs are written. */
  readonly blobs: string;
  /** Sends a request to the bucket of the blobs; absent when they are in a directory. */
  readonly askStore?: (() => Promise<void>) | undefined;
  readonly leaseMs: number;
  readonly knownMigration: number;
  /** The time limit for an answer of the database and of the disk. */
  readonly timeoutMs?: number;
}

const validMs = 1_000;
/** Probes of service managers usually time out after a second or more, and count failures. */
const defaultTimeoutMs = 2_000;

export function readinessProbe(options: ReadinessOptions): ReadinessProbe {
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  let isDraining = false;
  const state = cachedFor(
    validMs,
    () => performance.now(),
    () => observe(options, timeoutMs),
  );
  const read = async () => judgeReadiness({ ...(await state()), isDraining });
  let isClosed = false;
  const pauses = new Set<() => void>();
  /** Resolves after a second, when the server begins to stop, and when `signal` is aborted. */
  const pause = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        pauses.delete(end);
        signal.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, validMs);
      pauses.add(end);
      signal.addEventListener("abort", end);
    });
  const endPauses = () => {
    for (const end of pauses) end();
  };
  return {
    read,
    async *watch(signal) {
      let last: boolean | undefined;
      while (!isClosed && !signal.aborted) {
        const { ready } = await read();
        if (ready !== last) yield ready;
        last = ready;
        if (!isClosed && !signal.aborted) await pause(signal);
      }
    },
    drain: () => {
      isDraining = true;
      endPauses();
    },
    close: () => {
      isClosed = true;
      endPauses();
    },
  };
}

async function observe(
  { db, clock, replicas, blobs, askStore, leaseMs, knownMigration }: ReadinessOptions,
  timeoutMs: number,
): Promise<Omit<ServerState, "isDraining">> {
  const since = new Date(clock.now().getTime() - leaseMs);
  const [database, disk, bucket, seen] = await Promise.all([
    inTime(readDatabase(db, since), timeoutMs).catch(() => "late" as const),
    inTime(writeProbe(blobs), timeoutMs).catch((reason: unknown) => ({
      problem: isFullDisk(reason) ? "no space is left" : "a file cannot be written",
    })),
    askStore && inTime(timeOf(askStore), timeoutMs).catch(() => "refused" as const),
    replicas.look(timeoutMs),
  ]);
  return {
    knownMigration,
    database: database === "late" ? { problem: "does not answer" } : database,
    workers: database === "late" ? 0 : database.workers,
    replicas: seen.map(({ standing }) => standing),
    blobs: disk === "late" ? { problem: "does not answer" } : disk,
    ...(bucket === undefined ? {} : { bucket: stateOfBucket(bucket) }),
  };
}

async function timeOf(work: () => Promise<void>): Promise<{ readonly tookMs: number }> {
  const started = performance.now();
  await work();
  return { tookMs: performance.now() - started };
}

function stateOfBucket(
  answer: { readonly tookMs: number } | "late" | "refused",
): NonNullable<ServerState["bucket"]> {
  switch (answer) {
    case "late":
      return { problem: "does not answer" };
    case "refused":
      return { problem: "refuses requests" };
    default:
      return answer;
  }
}

/** Writes a small file into the directory of the blobs and removes it; this fails on a full or read-only disk. */
async function writeProbe(directory: string): Promise<{ freeBytes: number }> {
  const path = join(directory, `.readiness-${randomUUID()}`);
  const file = await open(path, "wx", 0o600);
  try {
    // Before the write, so that a server that is killed leaves no file.
    await unlink(path);
    await file.writeFile("ready\n");
  } finally {
    await file.close();
  }
  const { bavail, bsize } = await statfs(directory);
  return { freeBytes: bavail * bsize };
}

async function readDatabase(db: Db, since: Date) {
  const started = performance.now();
  const [schema, workers] = await Promise.all([readSchemaVersion(db), countWorkersSeen(db, since)]);
  return { schema, workers, tookMs: performance.now() - started };
}
