import type { KeyHistory } from "./key-history.ts";
import { historySize, type PastRun } from "./past-run.ts";

/**
 * What executions of an untrusted domain go by: what all may read, and after it what their own domain ran.
 *
 * It is for choosing alone. What they teach is added to their own.
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
