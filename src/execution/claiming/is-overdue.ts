import { delayOfPriorityMs } from "./queue-place.ts";

/**
 * Returns whether an execution has waited so long that lanes and shares no longer count.
 *
 * Shares alone starve executions: a lane of low priority has its turn only when the lanes of high priority have enough
 * running, which never happens with few workers. A low priority means a later place, so the execution becomes overdue
 * later by the same time. A high priority is not overdue earlier than others: otherwise an owner with many executions
 * of high priority would be outside of fairness at once.
 */
export function isOverdue(
  execution: { readonly queuedAt: Date; readonly priority: number },
  now: Date,
  overdueAfterMs: number,
): boolean {
  const waitedMs = now.getTime() - execution.queuedAt.getTime();
  return waitedMs > overdueAfterMs + Math.max(0, delayOfPriorityMs(execution.priority));
}
