import { takeLock } from "#machine/holder-lock.ts";

/**
 * Runs a function while no other process that shares the directory does; returns undefined when one does.
 *
 * A lock file and not a lock in the database, because the round may take long and a transaction should not. Two rounds
 * at once would be harmless but do the same work.
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
