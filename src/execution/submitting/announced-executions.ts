import type { Clock } from "#core/clock.ts";
import { recentlyUsed } from "#core/recently-used.ts";

/** So long an execution is kept for the worker that was told of it, should others of its lane do as well. */
const keptForMs = 5_000;
const mostTold = 10_000;

/** Which worker process was told of which executions that wait, and fetches what they need. */
export interface AnnouncedExecutions {
  tell(executionId: string, instanceId: string): void;
  /** Who was told of it, ever. */
  peek(executionId: string): string | undefined;
  /**
   * For whom it is kept. That ends by itself, counted from the first time, whatever the worker is busy with.
   */
  keptFor(executionId: string): string | undefined;
  /** Nobody was told of anything in the last moments: the usual case, which costs nothing. */
  isEmpty(): boolean;
}

export function announcedExecutions(clock: Clock): AnnouncedExecutions {
  const told = recentlyUsed<{ readonly instanceId: string; readonly until: number }>(mostTold);
  let lastUntil = 0;
  return {
    tell(executionId, instanceId) {
      if (told.peek(executionId)?.instanceId === instanceId) return;
      lastUntil = clock.now().getTime() + keptForMs;
      told.set(executionId, { instanceId, until: lastUntil });
    },
    peek: (executionId) => told.peek(executionId)?.instanceId,
    keptFor(executionId) {
      const known = told.peek(executionId);
      return known !== undefined && known.until > clock.now().getTime()
        ? known.instanceId
        : undefined;
    },
    isEmpty: () => lastUntil <= clock.now().getTime(),
  };
}
