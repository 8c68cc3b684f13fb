/** Node's timers treat a longer time as zero and fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Waits for any duration; returns early, without an error, when the signal is aborted. */
export function rest(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    let timer: ReturnType<typeof setTimeout>;
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const wait = (leftMs: number) => {
      const nextMs = Math.min(leftMs, longestTimerMs);
      timer = setTimeout(() => (leftMs > nextMs ? wait(leftMs - nextMs) : done()), nextMs);
    };
    wait(ms);
    signal?.addEventListener("abort", done, { once: true });
  });
}
