import { takeLock } from "#machine/holder-lock.ts";

/**
 * Does something while no other process of those who share a directory does; undefined when one does.
 *
 * A file, not a lock in the database: the round may take long, and no transaction should. Two at once would harm
 * nothing; they would only do the same work.
 */
export async function oneAtATime<T>(path: string, work: () => Promise<T>): Promise<T | undefined> {
  const taken = await takeLock(path, "eviction");
  if ("holder" in taken) return undefined;
  try {
    return await work();
  } finally {
    await taken.lock.release();
  }
}
