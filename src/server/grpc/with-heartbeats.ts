/**
 * Yields the values of a source, and the last one again after each silence of a given length.
 *
 * Proxies close streams without traffic. `stop` must end the source, also while it waits for its next value.
 */
export async function* withHeartbeats<T>(
  source: AsyncGenerator<T, void>,
  everyMs: number,
  stop: () => void,
): AsyncGenerator<T, void> {
  let next = source.next();
  // A caller that has stopped reading does not need the result of the wait.
  next.catch(() => {});
  try {
    let last: T | undefined;
    while (true) {
      let timer: NodeJS.Timeout | undefined;
      const silence = new Promise<"silence">((resolve) => {
        timer = setTimeout(() => resolve("silence"), everyMs);
      });
      const news = await Promise.race([next, silence]).finally(() => clearTimeout(timer));
      if (news === "silence") {
        if (last !== undefined) yield last;
        continue;
      }
      if (news.done === true) return;
      last = news.value;
      next = source.next();
      next.catch(() => {});
      yield last;
    }
  } finally {
    stop();
    await source.return().catch(() => {});
  }
}
