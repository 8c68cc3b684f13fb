import { Fault } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import { type HeldLock, takeLock } from "#machine/holder-lock.ts";

/** Between two looks at a lock that another holds: processes of other programs tell us nothing. */
const lookEveryMs = 100;

/** Does the work while no other holds the lock, in this process or another one of this machine. */
export async function holdingLock<T>(
  file: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const lock = await waitForLock(file, signal);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

async function waitForLock(file: string, signal: AbortSignal): Promise<HeldLock> {
  for (;;) {
    const taken = await takeLock(file, "a cache of artifacts");
    if ("lock" in taken) return taken.lock;
    await rest(lookEveryMs, signal);
    if (signal.aborted)
      throw new Fault("cancelled", "waiting for another process was cancelled", {
        cause: signal.reason,
      });
  }
}
