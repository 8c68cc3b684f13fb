import { readdir, readFile, readlink, realpath, rm } from "node:fs/promises";
import { basename } from "node:path";

/** The file descriptor under which PostgreSQL's processes inherit the lock: the first after stdin, stdout and stderr. */
const lockDescriptor = 3;

/**
 * Kills the processes of PostgreSQL that have a cluster's lock open, and does not wait for their end.
 *
 * Without their first process, the postmaster, they end only when they notice its loss; a busy or stopped process
 * notices late or never. Nothing is lost: after the loss of the postmaster the next one recovers from the write-ahead
 * log anyway. Linux only; elsewhere it does nothing.
 *
 * @param lockFile the path of the lock
 */
export async function killLeftovers(lockFile: string): Promise<void> {
  const path = await realpath(lockFile).catch(() => lockFile);
  const names = await readdir("/proc").catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const isLeftover = await Promise.all(pids.map((pid) => isPostgresWith(path, pid)));
  for (const pid of pids.filter((_, index) => isLeftover[index])) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has just ended, or belongs to another user: then the caller reports that it does not end.
    }
  }
}

async function isPostgresWith(path: string, pid: number): Promise<boolean> {
  const open = await readlink(`/proc/${pid}/fd/${lockDescriptor}`).catch(() => "");
  if (open !== path) return false;
  const program = await readlink(`/proc/${pid}/exe`).catch(() => "");
  // The kernel adds ` (deleted)` when an update has replaced it.
  return basename(program).split(" ")[0] === "postgres";
}

/**
 * Removes a lock file of PostgreSQL itself if the process that it names has ended and is only not yet reaped.
 *
 * PostgreSQL takes such a process for a running server and refuses to start. In a container whose first process reaps
 * no children, this would last for ever. The caller holds the cluster's lock, so no process of PostgreSQL works in the
 * directory.
 *
 * @param path of `postmaster.pid` or of the lock beside the socket; the first line of both is a process number
 */
export async function removeLockOfZombie(path: string): Promise<void> {
  const pid = Number.parseInt(await readFile(path, "utf8").catch(() => ""), 10);
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The state follows the name, which is in parentheses and may contain some itself.
  if (stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z")) await rm(path, { force: true });
}
