import { readdir, readlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { removeLeftovers } from "#cas/temp-file.ts";
import { isAlive } from "#machine/owner.ts";
import { removeTree } from "#machine/remove-tree.ts";
import { removeTreeOfUsers } from "./further-users.ts";
import { findCgroups, groupsIn, killAllIn, removeCgroup } from "./limits/cgroup-files.ts";
import { pipesLink, pipesPrefix } from "./logs/fifo-pool.ts";

/** The prefix of the name of all control groups of workers; the owner follows. */
export const groupPrefix = "grange-job~";

/**
 * Removes the remains of dead workers: processes in their groups, scratch directories, half-written files. Mounts were
 * removed with their namespace.
 */
export async function sweepLeftovers(dataDir: string): Promise<void> {
  await sweepGroups();
  const run = join(dataDir, "run");
  for (const owner of await readdir(run).catch(() => [])) {
    if (isAlive(owner)) continue;
    await removePipesOf(join(run, owner));
    await removeTreeOfUsers(join(run, owner));
  }
  await removeLeftovers(join(dataDir, "temp")).catch(() => 0);
}

/** The directory of a worker's process contains a link to the directory of its pipes: see `FifoPool`. */
async function removePipesOf(runOfOwner: string): Promise<void> {
  for (const worker of await readdir(runOfOwner).catch(() => [])) {
    const directory = await readlink(join(runOfOwner, worker, pipesLink)).catch(() => undefined);
    if (directory === undefined || !basename(directory).startsWith(pipesPrefix)) continue;
    await removeTree(directory).catch(() => {});
  }
}

async function sweepGroups(): Promise<void> {
  const { v1, v2 } = findCgroups();
  const parents = new Set([...v1.values(), ...(v2 ? [v2, join(v2, "..")] : [])]);
  for (const parent of parents) {
    for (const group of await groupsIn(parent, groupPrefix)) {
      const owner = group.slice(group.lastIndexOf(groupPrefix) + groupPrefix.length).split("~")[0];
      if (owner === undefined || isAlive(owner)) continue;
      await killAllIn(group, v2 && join(group, "cgroup.kill"));
      await removeCgroup(group);
    }
  }
}
