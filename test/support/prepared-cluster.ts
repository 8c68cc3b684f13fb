import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** Names the directory where the run's cluster lies; there is none outside of Vitest. */
export const clusterVariable = "GRANGE_TEST_CLUSTER";

/**
 * Puts a migrated database's files into a data directory that no server has used.
 *
 * To make them costs more than a second of CPU, and many waits for the disk, of each farm that is started.
 * Without a cluster the server makes its own.
 */
export async function copyCluster(dataDir: string): Promise<void> {
  const cluster = process.env[clusterVariable];
  if (cluster === undefined) return;
  await mkdir(dataDir, { recursive: true });
  const copied = ["-a", join(cluster, "pgdata"), join(dataDir, "pgdata")];
  await promisify(execFile)("cp", copied);
}
