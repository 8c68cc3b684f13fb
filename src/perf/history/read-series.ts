import type { ChangePointView, Series } from "#api/benchmark-history.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import { Fault } from "#core/fault.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { metricsOf } from "#suites/metrics-of.ts";
import type { Suite } from "#suites/suite.ts";
import { findSuite } from "../suites.store.ts";
import { pointsOfSeries, type StoredPoint } from "./change-point.store.ts";
import { fingerprintsOf, ordinalsOf } from "./figures.store.ts";
import { noMetric, noSuite } from "./read-comparison.ts";
import { findCase, pointsOf, samplesOf } from "./series.store.ts";

interface SeriesQuery {
  readonly suite: string;
  readonly case: TestCase;
  readonly metric?: string | undefined;
  readonly kind: "master" | "release";
  readonly samples: boolean;
}

/** Returns the figures of one metric of one case along the main line, or of the releases, and the steps in them. */
export async function readSeries(tx: Tx, query: SeriesQuery): Promise<Series> {
  const { suite, ordinals, caseId } = await findSeriesParts(tx, query.suite, query.case);
  const metric = metricOf(suite, query.metric);
  const empty = {
    suite: query.suite,
    case: query.case,
    metric,
    kind: query.kind,
    points: [],
    changePoints: [],
  };
  const ordinal = ordinals.get(metric.name);
  if (ordinal === undefined) return empty;
  const [points, steps, fingerprints] = await Promise.all([
    pointsOf(tx, { caseId, ordinal, kind: query.kind }),
    query.kind === "master" ? pointsOfSeries(tx, caseId, ordinal) : [],
    fingerprintsOf(tx),
  ]);
  const samples = query.samples
    ? await samplesOf(
        tx,
        points.map(({ artifactId }) => artifactId),
        { caseId, ordinal },
      )
    : [];
  const samplesAt = new Map(
    samples.map((each) => [`${each.artifactId} ${each.environmentId}`, each.samples]),
  );
  return {
    ...empty,
    points: points.map(({ artifactId, environmentId, datedAt, ...point }) => {
      const own = samplesAt.get(`${artifactId} ${environmentId}`);
      return {
        ...point,
        datedAt: datedAt.toISOString(),
        fingerprint: fingerprints.get(environmentId) ?? "",
        ...(own === undefined ? {} : { samples: own }),
      };
    }),
    changePoints: steps.map(pointView),
  };
}

/** Finds the parts of a series; throws `not_found` for unknown ones. */
export async function findSeriesParts(
  tx: Tx,
  suiteName: string,
  testCase: TestCase,
): Promise<{ suite: Suite; ordinals: Map<string, number>; caseId: number }> {
  const [stored, ordinals, caseId] = await Promise.all([
    findSuite(tx, suiteName),
    ordinalsOf(tx, suiteName),
    findCase(tx, suiteName, testCase),
  ]);
  if (stored === undefined) throw noSuite(suiteName);
  if (caseId === undefined) {
    throw new Fault("not_found", `there are no results of "${caseKey(testCase)}" in ${suiteName}`);
  }
  return { suite: stored.definition, ordinals, caseId };
}

/** Returns the named metric, or otherwise the suite's headline. */
export function metricOf(suite: Suite, name: string | undefined): Metric {
  const wanted = name ?? suite.headline;
  const metric = metricsOf(suite).find((each) => each.name === wanted);
  if (metric === undefined) throw noMetric(suite, wanted);
  return metric;
}

export function pointView(point: StoredPoint): ChangePointView {
  const { artifact, before, meanBefore, meanAfter, p, fingerprint, standing, statedBy, note } =
    point;
  return {
    artifact,
    before,
    meanBefore,
    meanAfter,
    change: meanBefore === 0 ? 0 : (meanAfter - meanBefore) / Math.abs(meanBefore),
    p,
    fingerprint,
    foundAt: point.foundAt.toISOString(),
    standing,
    statedBy,
    note,
  };
}
