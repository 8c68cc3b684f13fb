import { leastThreshold } from "#comparison/fence.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import type { Figures, Wanted } from "./figures.store.ts";

interface Accepted {
  readonly caseId: number;
  readonly metric: number;
  readonly environmentId: number;
  readonly artifactId: number;
}

interface Request {
  readonly before: readonly Figures[];
  readonly after: readonly Figures[];
  readonly metrics: readonly Metric[];
  readonly ordinals: ReadonlyMap<string, number>;
  /** The metric whose evidence is shown: its histories are read for all cases. Undefined: no evidence is shown. */
  readonly shown: string | undefined;
}

/** Returns the key of a series, made of numbers. */
export function seriesKey(caseId: number, environmentId: number, ordinal: number): string {
  return `${caseId} ${environmentId} ${ordinal}`;
}

/**
 * Returns the histories that a comparison needs. Only verdicts on deterministic metrics use a fence; all histories of
 * the shown metric are read, for the thresholds beside the figures, and of other metrics those of figures that differ.
 */
export function historiesWanted(wanted: Request): Omit<Wanted, "until">[] {
  const { before, after, metrics, ordinals, shown } = wanted;
  const afterOf = new Map(after.map((each) => [`${each.caseId} ${each.environmentId}`, each]));
  return before.flatMap(({ caseId, environmentId, least }) => {
    const later = afterOf.get(`${caseId} ${environmentId}`);
    if (later === undefined) return [];
    return metrics.flatMap(({ name, nature, decides }) => {
      const ordinal = ordinals.get(name);
      if (ordinal === undefined || nature !== "deterministic" || !decides) return [];
      const [a, b] = [least[ordinal - 1], later.least[ordinal - 1]];
      if (a === undefined || a === null || b === undefined || b === null) return [];
      if (name !== shown && !mayDecide(a, b)) return [];
      return [{ caseId, environmentId, ordinal }];
    });
  });
}

function mayDecide(a: number, b: number): boolean {
  // Smaller changes are never significant, whatever the fence; slightly below, because the comparison may round
  // differently.
  return a !== b && Math.abs(b - a) >= 0.999 * leastThreshold * Math.abs(a);
}

/**
 * Returns how many of the predecessors (nearest first) count for a series: those since its last accepted step. Earlier
 * values belong to another program and would only widen the fence.
 */
export function untilAccepted(
  predecessors: readonly number[],
  beforeId: number,
  accepted: readonly Accepted[],
): (caseId: number, environmentId: number, ordinal: number) => number {
  const placeOf = new Map(predecessors.map((id, place) => [id, place + 1]));
  // The step at `before` itself: no earlier artifact counts.
  placeOf.set(beforeId, 0);
  const until = new Map<string, number>();
  for (const { caseId, environmentId, metric, artifactId } of accepted) {
    const place = placeOf.get(artifactId);
    if (place === undefined) continue;
    const key = seriesKey(caseId, environmentId, metric);
    until.set(key, Math.min(until.get(key) ?? place, place));
  }
  return (caseId, environmentId, ordinal) =>
    until.get(seriesKey(caseId, environmentId, ordinal)) ?? predecessors.length;
}
