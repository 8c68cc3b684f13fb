import type { Clock } from "#core/clock.ts";
import { recentlyUsed } from "#core/recently-used.ts";

/**
 * How long an execution is kept for the worker that was told about it, when others of its lane serve as well. In ms.
 */
const keptForMs = 5_000;
const mostTold = 10_000;

/** Which worker process was told about which waiting executions, and fetches their inputs. */
export interface AnnouncedExecutions {
  tell(executionId: string, instanceId: string): void;
  /** Returns the worker that was told about it at any time. */
  peek(executionId: string): string | undefined;
  /**
   * Returns the worker for which it is kept. That ends by itself, counted from the first announcement, whatever the
   * worker does.
   */
  keptFor(executionId: string): string | undefined;
  /** Nobody was told of anything in the last moments: the usual case, which costs nothing. */
  isEmpty(): boolean;
}

export function announcedExecutions(clock: Clock): AnnouncedExecutions {
  const announced = recentlyUsed<{ readonly instanceId: string; readonly until: number }>(mostTold);
  let lastUntil = 0;
  return {
    tell(executionId, instanceId) {
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
