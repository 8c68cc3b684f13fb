import { Fault } from "#core/fault.ts";
import { takeLock } from "#machine/holder-lock.ts";

/** Otherwise, two concurrent starts of a worker would both find none and start two. */
export async function holdingLock<Result>(
  path: string,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const taken = await takeLock(path, `start of worker ${name}`);
  if ("holder" in taken) {
    throw new Fault(
      "failed_precondition",
      `somebody else (${taken.holder.where}) is also starting the worker ${name}; try again`,
    );
  }
  try {
    return await work();
  } finally {
    await taken.lock.release();
  }
}
