import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Db } from "#db/db.ts";
import { startEmbeddedPostgres } from "#db/embedded/embedded-postgres.ts";
import { migrate } from "#db/migrate.ts";
import { openPostgres } from "#db/postgres.ts";

/** Runs `work` on a new migrated database with durable commits (fsync on), and removes it. */
export async function withBenchDatabase<T>(work: (db: Db) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), "grange-bench-"));
  const server = await startEmbeddedPostgres({ dataDir });
  const db = openPostgres({ url: server.url });
  try {
    await migrate(db);
    return await work(db);
  } finally {
    await db.close();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
  readonly worst: number;
}

/** Returns percentiles of durations in milliseconds. */
export function percentilesOf(ms: readonly number[]): Percentiles {
  const sorted = ms.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { p50: at(0.5), p99: at(0.99), worst: sorted.at(-1) ?? 0 };
}
