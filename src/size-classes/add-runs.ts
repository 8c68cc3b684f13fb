import type { Evidence } from "./evidence.ts";
import { levelOf } from "./key.ts";
import type { KeyHistory } from "./key-history.ts";
import { historySize, type PastRun } from "./past-run.ts";

export function emptyHistory(key: string): KeyHistory {
  return {
    key,
    level: levelOf(key),
    runs: new Map(),
    lastFailureAt: undefined,
    failuresInARow: 0,
    pageRank: new Map(),
  };
}

/** The addition of an execution to the history of a key. */
export interface Observation {
  readonly runs: readonly { readonly sizeClass: number; readonly run: PastRun }[];
  readonly verdict: Evidence["verdict"];
  readonly endedAt: number;
  readonly pageRank: ReadonlyMap<number, number> | undefined;
}

/** Returns a history with one more execution: the last runs of each class, and the number of consecutive failures. */
export function addObservation(history: KeyHistory, observation: Observation): KeyHistory {
  const runs = new Map(history.runs);
  for (const { sizeClass, run } of observation.runs)
    runs.set(sizeClass, [...(runs.get(sizeClass) ?? []), run].slice(-historySize));
  const failed = observation.verdict === "failed-on-greatest";
  return {
    ...history,
    runs,
    lastFailureAt: failed
      ? Math.max(history.lastFailureAt ?? observation.endedAt, observation.endedAt)
      : history.lastFailureAt,
    failuresInARow:
      observation.verdict === "succeeded" ? 0 : history.failuresInARow + (failed ? 1 : 0),
    pageRank: observation.pageRank ?? history.pageRank,
  };
}
