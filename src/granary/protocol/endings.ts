import type { Logger } from "pino";

/** Builds that are over, and of which it is still being found out what they used and made. */
export interface Endings {
  add(ending: Promise<unknown>): void;
  /** Resolves when none is left. */
  over(): Promise<void>;
}

export function startEndings(logger: Pick<Logger, "warn">): Endings {
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
