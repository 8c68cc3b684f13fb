import { Fault } from "#core/fault.ts";

/** With the 2 s for which rights are reused, a call ends within 10 s after its right was taken away. */
export const rightsEveryMs = 5_000;

/**
 * Yields the values of a source while the caller has the right to them. What `check` throws ends the call.
 *
 * The caller's right was checked when the call began. `check` runs whenever the last check is `everyMs` old, and not
 * before each value: most calls end earlier, and nearly every action of a build is such a call. `stop` must end the
 * source, also while it waits for its next value.
 */
export async function* whileAllowed<T>(
  source: AsyncGenerator<T, void>,
  everyMs: number,
  check: () => Promise<void>,
  stop: () => void,
  nowMs: () => number = () => performance.now(),
): AsyncGenerator<T, void> {
  let checkedAtMs = nowMs();
  // Later than `checkedAtMs` while checks get no answer.
  let triedAtMs = checkedAtMs;
  let next = source.next();
  // A caller that has stopped reading does not need the result of the wait.
  next.catch(() => {});
  try {
    while (true) {
      let timer: NodeJS.Timeout | undefined;
      const pause = new Promise<"pause">((resolve) => {
        timer = setTimeout(() => resolve("pause"), triedAtMs + everyMs - nowMs());
      });
      const news = await Promise.race([next, pause]).finally(() => clearTimeout(timer));
      if (news === "pause") {
        triedAtMs = nowMs();
        // Without an answer the right stays unchecked, so that the next value is checked again.
        if (await isStillAllowed(check)) checkedAtMs = triedAtMs;
        continue;
      }
      if (news.done === true) return;
      // Requested before the check: the source yields states, and would skip one that is over when the check is done.
      next = source.next();
      next.catch(() => {});
      if (nowMs() - checkedAtMs >= everyMs) {
        triedAtMs = nowMs();
        await check();
        checkedAtMs = triedAtMs;
      }
      yield news.value;
    }
  } finally {
    stop();
    await source.return().catch(() => {});
  }
}

/**
 * Returns false while the database cannot be reached: the call waits for it as it would otherwise, and yields nothing.
 */
async function isStillAllowed(check: () => Promise<void>): Promise<boolean> {
  try {
    await check();
    return true;
  } catch (reason) {
    if (reason instanceof Fault && reason.code === "unavailable") return false;
    throw reason;
  }
}
