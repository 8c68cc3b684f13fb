import { ForgeBusy } from "../forge-busy.ts";

/** Limits the number of simultaneous tasks and the interval between their starts. */
interface Paced {
  schedule<Arguments extends unknown[], Answer>(
    options: unknown,
    work: (...given: Arguments) => Promise<Answer>,
    ...given: Arguments
  ): Promise<Answer>;
}

/**
 * Returns a separate rate limit for each key. It has the interface of Bottleneck's groups, which octokit's throttling
 * requires.
 *
 * A task that waited longer than `mostMs` is not started: the caller's lease may have expired, and another server may
 * have done the work meanwhile, above all after a suspension of the process.
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
  // An ending task passes its slot to the first waiting task, so that no task is overtaken.
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
