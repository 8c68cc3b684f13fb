import { takeLock } from "#machine/holder-lock.ts";

/**
 * Runs a function unless another process that shares the directory is running it; then it returns undefined.
 *
 * A lock file and not a database lock, because a round may take long and a transaction should not. Two rounds at once
 * would be harmless, but do the same work twice.
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
