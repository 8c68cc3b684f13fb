import type { Logger } from "pino";
import type { Service } from "#core/service.ts";
import { ownVariables } from "./config.ts";
import { warmUp } from "./prefetch/warm-up.ts";
import type { KnownDigests } from "./workspace/known-digests.ts";
import { digestDefaultTools } from "./workspace/read-environment.ts";

/**
 * The period of trimming in ms. A full store is trimmed at once; this one is for files that others removed, and reads
 * everything: 1.2 s of CPU at 50,000 results.
 */
const trimEveryMs = 15 * 60_000;

/** Digests the usual compilers in the background: the first build would otherwise have to wait for it. */
export function prepareDigests(digests: KnownDigests): Service {
  const stopping = new AbortController();
  const done = digestDefaultTools(digests, ownVariables()["PATH"], stopping.signal).catch(() => {});
  return {
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

/** Runs the code of prefetching once, before the first build. Nothing waits for it. */
export function startWarmUp(): Service {
  const stopping = new AbortController();
  const done = warmUp(stopping.signal).catch(() => {});
  return {
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

/** Trims the store periodically. A failure is logged, and the next period tries again. */
export function trimRegularly(trim: () => Promise<unknown>, logger: Logger): Service {
  let isRunning: Promise<void> | undefined;
  const timer = setInterval(() => {
    isRunning ??= trim()
      .then(
        () => {},
        (reason: unknown) => logger.warn({ err: reason }, "the store could not be trimmed"),
      )
      .finally(() => {
        isRunning = undefined;
      });
  }, trimEveryMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await isRunning;
    },
  };
}
