import { ForgeBusy } from "../forge-busy.ts";

/** Lets work start at most so many at a time, and so far apart. */
interface Paced {
  schedule<Arguments extends unknown[], Answer>(
    options: unknown,
    work: (...given: Arguments) => Promise<Answer>,
    ...given: Arguments
  ): Promise<Answer>;
}

/**
 * One pace for each key. Has the shape of Bottleneck's groups, which octokit's throttling takes.
 *
 * What had to wait for longer than `mostMs` is not begun: whoever asked for it held a lease then, and
 * somebody else may have done it since; above all when the whole process stood still.
 */
export function pacedByKey(
  concurrent: number,
  apartMs: number,
  wait: (ms: number) => Promise<void>,
  mostMs: number = Number.POSITIVE_INFINITY,
): { key(id: string): Paced } {
  const known = new Map<string, Paced>();
  return {
    key(id) {
      const one = known.get(id) ?? paced(concurrent, apartMs, wait, mostMs);
      known.set(id, one);
      return one;
    },
  };
}

function paced(
  concurrent: number,
  apartMs: number,
  wait: (ms: number) => Promise<void>,
  mostMs: number,
): Paced {
  const waiting: (() => void)[] = [];
  let running = 0;
  let nextAt = 0;
  // Whoever ends hands its place to the first who waits, so that none is overtaken.
  const enter = () =>
    running < concurrent ? void running++ : new Promise<void>((resolve) => waiting.push(resolve));
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  };
  return {
    async schedule(_options, work, ...given) {
      const cameAt = performance.now();
      await enter();
      try {
        const now = performance.now();
        const startAt = Math.max(now, nextAt);
        nextAt = startAt + apartMs;
        if (startAt > now) await wait(startAt - now);
        const waitedMs = performance.now() - cameAt;
        if (waitedMs > mostMs)
          throw new ForgeBusy(`waited ${Math.round(waitedMs)} ms for its turn to be written`);
        return await work(...given);
      } finally {
        leave();
      }
    },
  };
}
