import { type IdleState, neverIdle, periodMs } from "#core/idle-state.ts";
import type { Service } from "#core/service.ts";

/** A loop that runs when it is woken, at its planned time, and at regular intervals. */
interface WokenLoop extends Service {
  wake(): void;
}

/**
 * A minimum pause: a time in the past, when another server holds the due work, must not cause a
 * busy loop.
 */
const leastRestMs = 50;

/**
 * Calls `pass` repeatedly: at once when it returns "more"; else when it is woken, at the time that it returns, and
 * after `lookMs` at the latest. Its errors are logged, and it is called again after `lookMs`.
 */
export function wokenLoop({
  pass,
  lookMs,
  idle = neverIdle,
  onTrouble,
}: {
  readonly pass: (signal: AbortSignal) => Promise<"more" | Date | undefined>;
  readonly lookMs: number;
  /** While the farm is idle, the loop polls rarely when it has no planned time. */
  readonly idle?: IdleState | undefined;
  readonly onTrouble: (reason: unknown) => void;
}): WokenLoop {
  const stopping = new AbortController();
  let isNew = true;
  let timer: NodeJS.Timeout | undefined;
  let rouse: (() => void) | undefined;

  const rest = (ms: number) =>
    new Promise<void>((resolve) => {
      rouse = resolve;
      if (isNew || stopping.signal.aborted) return resolve();
      timer = setTimeout(resolve, ms);
      timer.unref();
    });

  const working = (async () => {
    while (!stopping.signal.aborted) {
      isNew = false;
      let restMs = periodMs(idle, lookMs);
      try {
        const next = await pass(stopping.signal);
        if (next === "more") isNew = true;
        else if (next !== undefined) {
          restMs = Math.max(leastRestMs, Math.min(restMs, next.getTime() - Date.now()));
        }
      } catch (reason) {
        isNew = false;
        if (!stopping.signal.aborted) onTrouble(reason);
      }
      await rest(restMs);
      clearTimeout(timer);
    }
  })();

  const wake = () => {
    isNew = true;
    rouse?.();
  };
  const busy = idle.onBusy(wake);

  return {
    wake,
    async stop() {
      stopping.abort();
      busy.stop();
      rouse?.();
      await working;
    },
  };
}
