import { randomUUID } from "node:crypto";
import { link, readFile, rename, rm, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault, messageOf } from "#core/fault.ts";
import { makeDirectory, makePrivateDirectory } from "#machine/make-directory.ts";

export interface DataDirectory {
  readonly path: string;
  readonly blobs: string;
  readonly mirrors: string;
  release(): Promise<void>;
}

/**
 * Makes the data directory and holds it: one server at a time.
 *
 * The lock is a file with the holder's process id and start time, made by linking,
 * which fails when it exists. A holder that is gone (kill -9, power) loses it; the
 * start time tells it from a stranger that got its number.
 */
export async function openDataDirectory(path: string): Promise<DataDirectory> {
  try {
    makeDirectory(path, 0o700);
    await writeFile(join(path, ".writable"), "");
    await unlink(join(path, ".writable"));
  } catch (cause) {
    throw new Fault(
      "failed_precondition",
      `cannot write to the data directory ${path}: ${messageOf(cause)}. ` +
        "Make it writable, or name another in GRANGE_DATA",
      { cause },
    );
  }
  const lock = join(path, "server.lock");
  await take(lock, path);
  const blobs = join(path, "blobs");
  const mirrors = join(path, "mirrors");
  // Of a directory that the operator made, only what the farm itself keeps in it is closed to others.
  for (const directory of [blobs, mirrors]) makePrivateDirectory(directory);
  return {
    path,
    blobs,
    mirrors,
    release: () => rm(lock, { force: true }),
  };
}

async function take(lock: string, path: string): Promise<void> {
  // Not by our number: in two containers that share the directory both may have the same.
  const mine = `${lock}.${randomUUID()}`;
  await writeFile(mine, `${process.pid} ${await startTimeOf(process.pid)}\n`);
  try {
    for (;;) {
      try {
        await link(mine, lock);
        return;
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
      }
      const held = await readFile(lock, "utf8").catch(() => "");
      const [pid = "0", startTime = ""] = held.trim().split(" ");
      if (startTime !== "" && (await startTimeOf(Number(pid))) === startTime) {
        throw new Fault(
          "failed_precondition",
          `another Grange server (process ${pid}) works in ${path}. ` +
            "Stop it, or name another data directory in GRANGE_DATA",
        );
      }
      await removeStale(lock, held);
    }
  } finally {
    await rm(mine, { force: true });
  }
}

/**
 * Removes the lock of a holder that is gone, but never one that was taken since.
 *
 * Two servers may find the same stale lock. Renaming shows which lock was got hold
 * of; a fresh one is put back.
 */
async function removeStale(lock: string, held: string): Promise<void> {
  const aside = `${lock}.stale.${randomUUID()}`;
  try {
    await rename(lock, aside);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return;
    throw cause;
  }
  if ((await readFile(aside, "utf8")) !== held) await link(aside, lock).catch(() => {});
  await rm(aside, { force: true });
}

/** Field 22 of /proc/PID/stat; where there is no /proc, a living process is enough. */
async function startTimeOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat !== undefined) return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  if (process.platform === "linux") return "gone";
  try {
    process.kill(pid, 0);
    return "alive";
  } catch {
    return "gone";
  }
}
