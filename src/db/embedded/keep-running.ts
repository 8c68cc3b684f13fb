import { messageOf } from "#core/fault.ts";
import type { Service } from "#core/service.ts";

/** A process that was started, and the promise of its end. */
export interface StartedProcess {
  readonly pid: number;
  readonly ended: Promise<void>;
}

interface KeptRunning extends Service {
  /** Returns undefined between an end and the next start. */
  pid(): number | undefined;
}

const firstDelayMs = 200;
const longestDelayMs = 10_000;

/** Returns the delay before the next start, after this number of immediate failures. */
export function restartDelayMs(failures: number): number {
  return Math.min(longestDelayMs, firstDelayMs * 2 ** failures);
}

/**
 * Keeps a process running until it is stopped: when it ends by itself, or cannot be started again, it is restarted,
 * with growing delays. Throws when the first start fails.
 *
 * @param end ends a running process, by force if necessary; `stop` waits for it
 */
export async function keepRunning(
  start: () => Promise<StartedProcess>,
  end: (running: StartedProcess) => Promise<void>,
  onRestart: (why: string) => void,
): Promise<KeptRunning> {
  let running: StartedProcess | undefined = await start();
  let stopping = false;
  let rise = () => {};

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      rise = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const watching = (async () => {
    let failures = 0;
    for (;;) {
      if (running !== undefined) {
        await running.ended;
        running = undefined;
        if (!stopping) onRestart("it ended by itself");
      }
      if (stopping) return;
      await pause(restartDelayMs(failures));
      if (stopping) return;
      try {
        running = await start();
        failures = 0;
        // `stop` was called during the start, so it did not end this process.
        if (stopping) await end(running);
      } catch (cause) {
        failures++;
        onRestart(`it could not be started: ${messageOf(cause)}`);
      }
    }
  })();

  return {
    pid: () => running?.pid,
    async stop() {
      stopping = true;
      rise();
      if (running !== undefined) await end(running);
      await watching;
    },
  };
}
