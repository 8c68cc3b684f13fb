import type { Candidate } from "./order-claims.ts";

/** Which worker process was told of which execution. */
interface Told {
  peek(executionId: string): string | undefined;
}

/**
 * Of what waits, in the order in which it will be taken, what one worker is told of.
 *
 * What was told to another one is left to that one. Then what is of the worker's own lane, since claims
 * prefer that as well; and within its lane as in all others, what goes first.
 */
export function shareAhead<Waiting extends Pick<Candidate, "id" | "lane">>(
  ordered: readonly Waiting[],
  asks: { readonly instanceId: string; readonly lane: number | undefined; readonly most: number },
  told: Told,
): Waiting[] {
  const free = ordered.filter(({ id }) => (told.peek(id) ?? asks.instanceId) === asks.instanceId);
  const own = free.filter(({ lane }) => lane === asks.lane);
  const others = free.filter(({ lane }) => lane !== asks.lane);
  return [...own, ...others].slice(0, asks.most);
}
