import type { KeyHistory } from "./key-history.ts";
import { historySize, type PastRun } from "./past-run.ts";

/**
 * Returns the history for executions of an untrusted domain: the history that all may read, joined with that of their
 * own domain.
 *
 * Only for choosing. The results are added to the domain's own history.
 */
export function joinedHistory(
  own: KeyHistory | undefined,
  shared: KeyHistory | undefined,
): KeyHistory | undefined {
  if (own === undefined || shared === undefined) return own ?? shared;
  const runs = new Map<number, readonly PastRun[]>(shared.runs);
  for (const [sizeClass, its] of own.runs) {
    runs.set(sizeClass, [...(shared.runs.get(sizeClass) ?? []), ...its].slice(-historySize));
  }
  return {
    ...own,
    runs,
    lastFailureAt: own.lastFailureAt ?? shared.lastFailureAt,
    pageRank: own.pageRank.size > 0 ? own.pageRank : shared.pageRank,
  };
}
