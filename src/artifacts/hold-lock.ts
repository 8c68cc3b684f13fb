import { Fault } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import { type HeldLock, takeLock } from "#machine/holder-lock.ts";

/** The polling interval for a lock of another process: other processes send no notification. */
const lookEveryMs = 100;

/** Runs the work while no other call holds the lock, in this or another process of this machine. */
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
