import type { Candidate } from "./order-claims.ts";

/** The worker process to which each execution was announced. */
interface Announcements {
  peek(executionId: string): string | undefined;
}

/**
 * Returns the waiting executions that are announced to one worker, in the order in which they will be taken.
 *
 * Executions that were announced to another worker are left to that worker. Executions of the worker's own lane come
 * first, because claims prefer them, too; within each lane, the order of the queue holds.
 */
export function shareAhead<Waiting extends Pick<Candidate, "id" | "lane">>(
  ordered: readonly Waiting[],
  asks: { readonly instanceId: string; readonly lane: number | undefined; readonly most: number },
  announced: Announcements,
): Waiting[] {
  const free = ordered.filter(
    ({ id }) => (announced.peek(id) ?? asks.instanceId) === asks.instanceId,
  );
  const own = free.filter(({ lane }) => lane === asks.lane);
  const others = free.filter(({ lane }) => lane !== asks.lane);
  return [...own, ...others].slice(0, asks.most);
}
