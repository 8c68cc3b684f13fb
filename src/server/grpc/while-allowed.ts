import { Fault } from "#core/fault.ts";

/** With the 2 s for which rights are reused, a call ends within 10 s after its right was taken away. */
export const rightsEveryMs = 5_000;

/**
 * Yields the values of a source while the caller has the right to them: `check` runs before each value and every
 * `everyMs`, and what it throws ends the call.
 *
 * `stop` must end the source, also while it waits for its next value.
 */
export async function* whileAllowed<T>(
  source: AsyncGenerator<T, void>,
  everyMs: number,
  check: () => Promise<void>,
  stop: () => void,
): AsyncGenerator<T, void> {
  let next = source.next();
  // A caller that has stopped reading does not need the result of the wait.
  next.catch(() => {});
  try {
    while (true) {
      let timer: NodeJS.Timeout | undefined;
      const pause = new Promise<"pause">((resolve) => {
        timer = setTimeout(() => resolve("pause"), everyMs);
      });
      const news = await Promise.race([next, pause]).finally(() => clearTimeout(timer));
      if (news === "pause") {
        await check().catch(unlessUnreachable);
        continue;
      }
      if (news.done === true) return;
      // Requested before the check: the source yields states, and would skip one that is over when the check is done.
      next = source.next();
      next.catch(() => {});
      await check();
      yield news.value;
    }
  } finally {
    stop();
    await source.return().catch(() => {});
  }
}

/** While the database cannot be reached, the call waits for it as it would otherwise: it can yield nothing. */
function unlessUnreachable(reason: unknown): void {
  if (reason instanceof Fault && reason.code === "unavailable") return;
  throw reason;
}
