import type { Service } from "#core/service.ts";
import type { Child } from "./child.ts";
import { consecutiveDeaths, restartDelayMs } from "./restart-delay.ts";

export interface Supervised extends Service {
  /** Kills the child at once. */
  kill(): void;
}

interface Supervision {
  /** Starts the child, and a new one after each death. */
  readonly start: () => Child;
  readonly onDeath: (how: string, restartInMs: number) => void;
  /** The time that a stopping child gets before it is killed, in ms. */
  readonly graceMs: number;
}

/** Keeps one child running until stopped. */
export function supervise({ start, onDeath, graceMs }: Supervision, first = start()): Supervised {
  let child: Child | undefined;
  let timer: NodeJS.Timeout | undefined;
  let deaths = 0;
  let isStopping = false;

  const watch = (started: Child) => {
    child = started;
    const startedAt = Date.now();
    void started.ended.then((how) => {
      child = undefined;
      if (isStopping) return;
      deaths = consecutiveDeaths(deaths, Date.now() - startedAt);
      const delayMs = restartDelayMs(deaths);
      onDeath(how, delayMs);
      timer = setTimeout(() => watch(start()), delayMs);
    });
  };
  watch(first);

  return {
    async stop() {
      isStopping = true;
      clearTimeout(timer);
      await child?.stop(graceMs);
    },
    kill() {
      isStopping = true;
      clearTimeout(timer);
      child?.kill();
    },
  };
}
