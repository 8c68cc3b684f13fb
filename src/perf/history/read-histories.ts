import { fenceHistory } from "#comparison/fence.ts";
import type { Tx } from "#db/db.ts";
import { acceptedAt } from "./change-point.store.ts";
import { valuesAt, type Wanted } from "./figures.store.ts";
import { seriesKey, untilAccepted } from "./history-wanted.ts";

/** The maximum number of predecessors that are searched for 30 values of a case that was measured rarely. */
export const farthestBack = 90;

/**
 * Returns values of series at predecessors, nearest first, at most 30 for each, not beyond an accepted step.
 *
 * All series are read at the first 30 predecessors; series with gaps there are read again for the rest.
 */
export async function readHistories(
  tx: Tx,
  beforeId: number,
  /** Measured artifacts of the main line, the nearest first. */
  predecessors: readonly number[],
  series: readonly Omit<Wanted, "until">[],
): Promise<Map<string, readonly number[]>> {
  if (series.length === 0 || predecessors.length === 0) return new Map();
  const accepted = await acceptedAt(tx, [beforeId, ...predecessors]);
  const untilOf = untilAccepted(predecessors, beforeId, accepted);
  const wanted = series
    .map((each) => ({ ...each, until: untilOf(each.caseId, each.environmentId, each.ordinal) }))
    .filter(({ until }) => until > 0);

  const near = predecessors.slice(0, fenceHistory);
  const first = await valuesAt(tx, near, wanted);
  const histories = wanted.map((each, i) => ({ each, values: first.get(i) ?? [] }));

  const far = predecessors.slice(fenceHistory);
  const short = histories.filter(
    ({ each, values }) => values.length < fenceHistory && each.until > near.length,
  );
  const more = await valuesAt(
    tx,
    far,
    short.map(({ each }) => ({ ...each, until: each.until - near.length })),
  );
  short.forEach((history, i) => {
    history.values = [...history.values, ...(more.get(i) ?? [])].slice(0, fenceHistory);
  });
  return new Map(
    histories.map(({ each: { caseId, environmentId, ordinal }, values }) => [
      seriesKey(caseId, environmentId, ordinal),
      values,
    ]),
  );
}
