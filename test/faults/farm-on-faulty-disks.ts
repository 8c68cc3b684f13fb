import { execFile } from "node:child_process";
import { appendFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Farm, startFarm } from "../support/farm.ts";
import {
  type FaultyDisk,
  faultyDisk,
  type MountNamespace,
  mountNamespace,
} from "../support/faulty-disk.ts";
import { preparedCluster } from "../support/shared-resources.ts";

/** A farm some of whose directories lie on disks that can fail. */
export interface FarmOnFaultyDisks<Place extends string> {
  readonly farm: Farm;
  readonly disks: Readonly<Record<Place, FaultyDisk>>;
  /** The data directory, as processes outside the farm's mount namespace see it. */
  readonly seenDataDir: string;
  startWorker(name: string): void;
  stop(): Promise<void>;
}

/**
 * Starts a farm with disks of these sizes, in MiB, on these directories of its data directory. "." is the directory
 * itself. No worker is started.
 */
export async function farmOnFaultyDisks<Place extends string>(
  sizes: Readonly<Record<Place, number>>,
  env: Readonly<Record<string, string>> = {},
): Promise<FarmOnFaultyDisks<Place>> {
  const dataDir = await mkdtemp(join(tmpdir(), "grange-faulty-disks-"));
  const namespace = await mountNamespace();
  const disks = {} as Record<Place, FaultyDisk>;
  for (const place of Object.keys(sizes) as Place[])
    disks[place] = await faultyDisk(namespace, join(dataDir, place), sizes[place]);
  await copyDurableCluster(namespace, dataDir);
  const farm = await startFarm({ dataDir, workers: 0, env, serverWithin: namespace.within });
  return {
    farm,
    disks,
    seenDataDir: namespace.outside(dataDir),
    startWorker: (name) => void farm.startWorker({ name, within: namespace.within }),
    async stop() {
      await farm.stop();
      // What was mounted last may lie below another disk.
      for (const disk of Object.values<FaultyDisk>(disks).toReversed()) await disk.remove();
      await namespace.remove();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The cluster of the tests does not sync, as nothing but its processes is killed elsewhere. */
async function copyDurableCluster(namespace: MountNamespace, dataDir: string): Promise<void> {
  // `startFarm` makes a cluster where it sees none; it sees the directory, and not what is mounted on it.
  await mkdir(join(dataDir, "pgdata"), { recursive: true });
  const cluster = await preparedCluster();
  if (cluster === undefined) return;
  const copy = namespace.outside(join(dataDir, "pgdata"));
  await mkdir(copy, { recursive: true });
  await promisify(execFile)("cp", ["-a", `${join(cluster, "pgdata")}/.`, copy]);
  await appendFile(join(copy, "postgresql.conf"), "fsync = on\n");
  // The farm's first files are old when the first fault comes.
  await namespace.run("sync", "--file-system", join(dataDir, "pgdata"));
}
