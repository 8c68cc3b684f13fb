import type { Placed, WaitingRequest } from "./order-requests.ts";

interface Slot {
  readonly target: string;
  readonly set: number;
}

/**
 * Returns the request whose jobs are inserted next; undefined when none may start.
 *
 * Usually one at a time: the machines then work on one artifact, and its end can be predicted. If more are allowed,
 * another one starts when one of the sets that it needs has no unstarted job left.
 */
export function whichToStart<R extends WaitingRequest>(
  queue: readonly Placed<R>[],
  requestsAtOnce: number,
  waiting: readonly (Slot & { readonly jobs: number })[],
  needs: (request: R) => readonly Slot[],
): R | undefined {
  const running = queue.filter(({ request }) => request.state === "in-progress").length;
  const next = queue.find(({ request }) => request.state === "artifacts-ready")?.request;
  if (next === undefined || running >= requestsAtOnce) return undefined;
  if (running === 0) return next;
  const isBusy = ({ target, set }: Slot) =>
    waiting.some((each) => each.target === target && each.set === set && each.jobs > 0);
  return needs(next).every(isBusy) ? undefined : next;
}
