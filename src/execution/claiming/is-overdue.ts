import { delayOfPriorityMs } from "./queue-place.ts";

/**
 * Whether an execution has waited so long that lanes and shares no longer count.
 *
 * Shares alone starve: a lane of low priority has its turn only when those of high priority have enough
 * running at once, and with few workers they never have. A low priority asks for a later
 * place, so it is overdue by as much later. A high one is overdue no sooner than others:
 * else whoever asks for much at a high priority would be outside all fairness at once.
 */
export function isOverdue(
  execution: { readonly queuedAt: Date; readonly priority: number },
  now: Date,
  overdueAfterMs: number,
): boolean {
  const waitedMs = now.getTime() - execution.queuedAt.getTime();
  return waitedMs > overdueAfterMs + Math.max(0, delayOfPriorityMs(execution.priority));
}
