import { randomUUID } from "node:crypto";
import type { Stats } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { errnoOf } from "./disk/disk-fault.ts";

/** No writer pauses for an hour in the middle of a blob. */
const abandonedAfterMs = 60 * 60_000;

/** Machine names may contain any characters; file names may not. */
const host = encodeURIComponent(hostname());

/** The start of the process; `performance.timeOrigin` is the start of this thread. */
const processStartedAtMs = Date.now() - process.uptime() * 1_000;

/** Returns a new name in the directory for temporary files. The name contains the process that owns the file. */
export function tempFileIn(directory: string): string {
  return join(directory, `${process.pid}~${randomUUID()}~${host}`);
}

/**
 * Removes half-written files of processes that have ended; returns how many.
 *
 * Several processes may share the directory, also from several machines. Files of running processes stay. Because it is
 * impossible to check the processes of another machine, the age of their files decides.
 */
export async function removeLeftovers(directory: string): Promise<number> {
  let removed = 0;
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const file = await stat(path).catch(() => undefined);
    if (file === undefined || !isLeftover(name, file, Date.now())) continue;
    await rm(path, { force: true, recursive: true });
    removed++;
  }
  return removed;
}

/** Returns whether the writer of a file with this name has ended. */
export function isLeftover(
  name: string,
  { mtimeMs, atimeMs }: Pick<Stats, "mtimeMs" | "atimeMs">,
  nowMs: number,
): boolean {
  // A blob gets its constant modification time shortly before it is renamed; its access time then still shows the time
  // of writing.
  const writtenAtMs = Math.max(mtimeMs, atimeMs);
  if (nowMs - writtenAtMs > abandonedAfterMs) return true;
  const [pid, , machine] = name.split("~");
  if (machine !== host) return false;
  // A restarted container has the same host name and the same process id.
  if (Number(pid) === process.pid) return writtenAtMs < processStartedAtMs;
  return !isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (reason) {
    return errnoOf(reason) !== "ESRCH";
  }
}
