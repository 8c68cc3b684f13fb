import type { Clock } from "#core/clock.ts";
import { recentlyUsed } from "#core/recently-used.ts";

/**
 * How long an execution is reserved for the worker to which it was announced, when other workers could run it as well.
 * In ms.
 */
const keptForMs = 5_000;
const mostAnnounced = 10_000;

/** Records to which worker process which waiting executions were announced, so that it fetches their inputs. */
export interface AnnouncedExecutions {
  add(executionId: string, instanceId: string): void;
  /** Returns the worker to which it was ever announced. */
  peek(executionId: string): string | undefined;
  /**
   * Returns the worker for which it is reserved. The reservation expires a fixed time after the first announcement,
   * independent of the worker.
   */
  keptFor(executionId: string): string | undefined;
  /** Nothing was announced recently: the usual case, which costs nothing. */
  isEmpty(): boolean;
}

export function announcedExecutions(clock: Clock): AnnouncedExecutions {
  const announced = recentlyUsed<{ readonly instanceId: string; readonly until: number }>(
    mostAnnounced,
  );
  let lastUntil = 0;
  return {
    add(executionId, instanceId) {
      if (announced.peek(executionId)?.instanceId === instanceId) return;
      lastUntil = clock.now().getTime() + keptForMs;
      announced.set(executionId, { instanceId, until: lastUntil });
    },
    peek: (executionId) => announced.peek(executionId)?.instanceId,
    keptFor(executionId) {
      const known = announced.peek(executionId);
      return known !== undefined && known.until > clock.now().getTime()
        ? known.instanceId
        : undefined;
    },
    isEmpty: () => lastUntil <= clock.now().getTime(),
  };
}
