import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, realpath, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { preparedCluster } from "./shared-resources.ts";

/**
 * Puts a migrated database's files into a data directory that no server has used.
 *
 * For each new farm, this saves more than a second of CPU time and many waits for the disk. Without a prepared cluster
 * the server makes its own.
 */
export async function copyCluster(dataDir: string): Promise<void> {
  if (existsSync(join(dataDir, "pgdata"))) return;
  const cluster = await preparedCluster();
  if (cluster !== undefined) await copyFiles(cluster, dataDir);
}

/**
 * Like `copyCluster`, but the files are beside the prepared cluster, which may be in memory; the data directory contains a
 * link to them.
 *
 * A cluster has 1,700 files, and many removed files make an ext4 slow (`database-directory.ts`). Remove the data
 * directory with `removeWithCluster`. What is left after a failed test is removed at the end of the run. A directory that
 * has a cluster is left as it is: a second try of a test uses the directory of the first.
 */
export async function linkCluster(dataDir: string): Promise<void> {
  if (existsSync(join(dataDir, "pgdata"))) return;
  const cluster = await preparedCluster();
  if (cluster === undefined) return;
  await mkdir(dataDir, { recursive: true });
  const files = join(cluster, `copy-${randomUUID()}`);
  await promisify(execFile)("cp", ["-a", join(cluster, "pgdata"), files]);
  await symlink(files, join(dataDir, "pgdata"));
}

/** Removes a data directory, and its cluster if that is elsewhere. */
export async function removeWithCluster(dataDir: string): Promise<void> {
  const files = await realpath(join(dataDir, "pgdata")).catch(() => undefined);
  await rm(dataDir, { recursive: true, force: true });
  if (files !== undefined) await rm(files, { recursive: true, force: true });
}

/** Copies a stopped cluster into another data directory. */
export async function copyFiles(cluster: string, dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  const copied = ["-a", join(cluster, "pgdata"), join(dataDir, "pgdata")];
  await promisify(execFile)("cp", copied);
}
