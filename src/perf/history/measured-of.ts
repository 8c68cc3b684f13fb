import type { MeasuredCase, PairedCase } from "#comparison/measured.ts";
import type { MetricValues } from "#core/benchmark-metric.ts";
import type { TestCase } from "#core/test-case.ts";
import type { StoredPair } from "./evidence.store.ts";
import type { Figures } from "./figures.store.ts";

/** The meaning of numbers in stored figures. */
export interface Names {
  readonly cases: ReadonlyMap<number, TestCase>;
  readonly fingerprints: ReadonlyMap<number, string>;
  /** Metrics by ordinal, the first at 0. */
  readonly metrics: readonly string[];
}

/** Metrics by ordinal, the first at 0. */
export function namedMetrics(ordinals: ReadonlyMap<string, number>): string[] {
  const names: string[] = [];
  for (const [name, ordinal] of ordinals) names[ordinal - 1] = name;
  return names;
}

/** Returns values by the names of metrics; absent ones are left out. */
function namedValues(values: readonly (number | null)[], metrics: readonly string[]): MetricValues {
  const named: Record<string, number> = {};
  values.forEach((value, i) => {
    const name = metrics[i];
    if (value !== null && name !== undefined) named[name] = value;
  });
  return named;
}

/** Returns stored results in the form for a comparison. */
export function measuredOf(
  figures: readonly Figures[],
  names: Names,
  warningsOf: (figures: Figures) => readonly string[],
): MeasuredCase[] {
  return figures.flatMap((each) => {
    const testCase = names.cases.get(each.caseId);
    const fingerprint = names.fingerprints.get(each.environmentId);
    if (testCase === undefined || fingerprint === undefined) return [];
    return [
      {
        case: testCase,
        fingerprint,
        collector: each.collector,
        values: namedValues(each.least, names.metrics),
        scatter: namedValues(each.scatter ?? [], names.metrics),
        warnings: warningsOf(each),
      },
    ];
  });
}

/** Returns stored pairs by the lease in which they ran: pairs of two leases are never mixed. */
export function pairedOf(pairs: readonly StoredPair[], names: Names): PairedCase[] {
  const groups = new Map<string, StoredPair[]>();
  for (const pair of pairs) {
    const key = `${pair.jobId} ${pair.caseId} ${pair.environmentId}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [pair]);
    else group.push(pair);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const testCase = names.cases.get(first.caseId);
    const fingerprint = names.fingerprints.get(first.environmentId);
    if (testCase === undefined || fingerprint === undefined) return [];
    return [
      {
        case: testCase,
        fingerprint,
        collector: first.collector,
        purpose: first.purpose,
        pairs: group.map(({ child, parent, parentFirst }) => ({
          parentFirst,
          child: namedValues(child, names.metrics),
          parent: namedValues(parent, names.metrics),
        })),
      },
    ];
  });
}
