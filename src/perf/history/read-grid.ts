import type { SeriesGrid } from "#api/benchmark-history.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { findSuite } from "../suites.store.ts";
import { stepsOfCases } from "./change-point.store.ts";
import { fingerprintsOf, ordinalsOf } from "./figures.store.ts";
import { type CaseFilter, casesThatFit, gridValues, measuredBetween } from "./grid.store.ts";
import { artifactByTag } from "./line.store.ts";
import { noSuite } from "./read-comparison.ts";
import { metricOf } from "./read-series.ts";

interface GridQuery {
  readonly suite: string;
  readonly metric?: string | undefined;
  readonly kind: "master" | "release";
  readonly filter: CaseFilter;
  /** A tag, or a time. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** The maximum number of cases. */
  readonly limit: number;
}

/** Half a year of nightly builds. */
const defaultArtifacts = 180;
/** With 500 cases that were all measured, half a million numbers. */
const mostArtifacts = 1_000;

/** Reads several series next to each other: the values of one metric at the same artifacts. */
export async function readGrid(tx: Tx, query: GridQuery): Promise<SeriesGrid> {
  const stored = await findSuite(tx, query.suite);
  if (stored === undefined) throw noSuite(query.suite);
  const metric = metricOf(stored.definition, query.metric);
  const [ordinals, fingerprints, cases, from, to] = await Promise.all([
    ordinalsOf(tx, query.suite),
    fingerprintsOf(tx),
    casesThatFit(tx, query.suite, query.filter, query.limit),
    timeOf(tx, query.suite, query.from),
    timeOf(tx, query.suite, query.to),
  ]);
  const artifacts = await measuredBetween(tx, {
    suite: query.suite,
    kind: query.kind,
    from,
    to,
    most: from === null ? defaultArtifacts : mostArtifacts,
  });
  const ordinal = ordinals.get(metric.name);
  const rows =
    ordinal === undefined
      ? []
      : await gridValues(tx, {
          artifactIds: artifacts.map(({ id }) => id),
          caseIds: cases.map(({ id }) => id),
          ordinal,
        });
  const steps =
    ordinal === undefined
      ? []
      : await stepsOfCases(
          tx,
          cases.map(({ id }) => id),
          ordinal,
        );
  const placeOf = new Map(artifacts.map(({ id }, place) => [id, place]));
  const byCase = new Map<number, typeof rows>();
  for (const row of rows) byCase.set(row.caseId, [...(byCase.get(row.caseId) ?? []), row]);
  return {
    suite: query.suite,
    metric,
    artifacts: artifacts.map(({ tag, datedAt }) => ({ tag, datedAt: datedAt.toISOString() })),
    series: cases.flatMap(({ id, inAll: _inAll, ...testCase }) =>
      (byCase.get(id) ?? []).map(({ environmentId, artifactIds, values }) => ({
        case: testCase,
        fingerprint: fingerprints.get(environmentId) ?? "",
        values: spread(artifactIds, values, placeOf),
        steps: steps
          .filter((step) => step.caseId === id && step.environmentId === environmentId)
          .map(({ artifact, meanBefore, meanAfter }) => ({
            artifact,
            change: meanBefore === 0 ? 0 : (meanAfter - meanBefore) / Math.abs(meanBefore),
          })),
      })),
    ),
    leftOut: (cases[0]?.inAll ?? 0) - cases.length,
  };
}

function spread(
  artifactIds: readonly number[],
  values: readonly number[],
  placeOf: ReadonlyMap<number, number>,
) {
  const all: (number | null)[] = Array.from({ length: placeOf.size }, () => null);
  artifactIds.forEach((id, i) => {
    const place = placeOf.get(id);
    if (place !== undefined) all[place] = values[i] ?? null;
  });
  return all;
}

async function timeOf(tx: Tx, suite: string, text: string | undefined): Promise<Date | null> {
  if (text === undefined) return null;
  const artifact = await artifactByTag(tx, suite, text);
  if (artifact !== undefined) return artifact.datedAt;
  const time = new Date(text);
  if (/^\d{4}-\d{2}-\d{2}/.test(text) && !Number.isNaN(time.getTime())) return time;
  throw new Fault(
    "invalid_argument",
    `"${text}" is neither an artifact of ${suite} nor a date such as 2026-06-01`,
  );
}
