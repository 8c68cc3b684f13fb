import { statfsSync } from "node:fs";
import { freemem, tmpdir } from "node:os";

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
