import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Farm } from "./farm.ts";

/**
 * Returns the URL of the PostgreSQL that a farm started: of the farm's database, or of another one
 * on it.
 */
export async function farmDatabaseUrl(
  farm: Pick<Farm, "dataDir">,
  database = "postgres",
): Promise<string> {
  const lock = await readFile(join(farm.dataDir, "pgdata", "postmaster.pid"), "utf8");
  // The fifth line of PostgreSQL's own lock file.
  const socketDir = lock.split("\n")[4] ?? "";
  return `postgres:///${database}?host=${encodeURIComponent(socketDir)}&user=grange`;
}
