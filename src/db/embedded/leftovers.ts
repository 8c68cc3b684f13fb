import { readdir, readlink, realpath } from "node:fs/promises";
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
