import type { Logger } from "pino";

/** Builds that have ended and whose reports are still being made. */
export interface EndingBuilds {
  add(ending: Promise<unknown>): void;
  /** Resolves when all of them have their reports. */
  over(): Promise<void>;
}

export function trackEndingBuilds(logger: Pick<Logger, "warn">): EndingBuilds {
  const all = new Set<Promise<unknown>>();
  return {
    add(ending) {
      const done: Promise<unknown> = ending
        .catch((reason: unknown) => logger.warn({ err: reason }, "a build did not end well"))
        .finally(() => all.delete(done));
      all.add(done);
    },
    async over() {
      while (all.size > 0) await Promise.all(all);
    },
  };
}
