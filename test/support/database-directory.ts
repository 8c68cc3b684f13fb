import { statfsSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

/** A file system in memory, which Linux has for all users; in a container it may be small. */
const inMemory = "/dev/shm";

/** `TMPFS_MAGIC` of the kernel. */
const tmpfs = 0x0102_1994;

/**
 * The databases of a run's test files need about 14 MB each, of which at most a dozen exist at once, and PostgreSQL's
 * write-ahead log about 256 MB. In bytes, with a reserve.
 */
const needed = 2 * 1024 ** 3;

/**
 * Returns where the run's PostgreSQL keeps its files: in memory if there is space, otherwise in the temporary
 * directory.
 *
 * Each test file creates and removes a database of 1,000 files. An ext4 without a journal does not use the number of
 * a removed file again for up to five minutes, and passes over all such numbers when it makes a file: after some dozen
 * databases, each further one took seconds, and the other tests' files were slow as well.
 */
export function databaseDirectory(): string {
  try {
    const { type, bavail, bsize } = statfsSync(inMemory);
    const hasSpace = bavail * bsize >= needed && freemem() >= needed;
    if (type === tmpfs && hasSpace) return inMemory;
  } catch {
    // Another system.
  }
  return tmpdir();
}

/** No run takes as long, not even on a loaded machine; in ms. */
const oldMs = 24 * 3_600_000;

/**
 * Removes directories from memory whose run was killed before it could remove them.
 *
 * By age: a run in another container may be alive although its processes cannot be seen.
 */
export async function removeOldDatabases(prefix: string): Promise<void> {
  const names = await readdir(inMemory).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(prefix))) {
    const path = join(inMemory, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs < oldMs) continue;
    // Those of another user stay.
    await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}
