import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "#db/embedded/embedded-postgres.ts";

/**
 * Runs `work` with the URL of a new, empty database with durable commits, and removes it. `pid` is that of the first
 * process of PostgreSQL.
 */
export async function withDatabaseUrl<T>(
  work: (url: string, pid: number) => Promise<T>,
): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), "grange-bench-"));
  const server = await startEmbeddedPostgres({ dataDir });
  try {
    return await work(server.url, server.pid() ?? 0);
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
