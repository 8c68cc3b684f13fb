import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { practicalLimit } from "#comparison/judge-pairs.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import type { Db } from "#db/db.ts";
import { metricsOf } from "#suites/metrics-of.ts";
import { findSuite } from "../suites.store.ts";
import {
  deleteDisprovedPoints,
  type FoundPoint,
  holdPoints,
  type KnownPoint,
  storeFoundPoints,
} from "./change-point.store.ts";
import { noiseOfCases } from "./evidence.store.ts";
import { ordinalsOf } from "./figures.store.ts";
import { type FoundStep, findSteps, settleSteps } from "./find-steps.ts";
import { seriesKey } from "./history-wanted.ts";
import { markExamined, takeUnexamined } from "./unexamined.store.ts";
import { measuredCases, seriesAt, suiteOfArtifact, windowAbout } from "./window.store.ts";

/**
 * Two windows of the search for steps before, one after: an artifact that is measured late has figures on both sides.
 */
const about = { before: 99, after: 50 };
/** Values at the beginning of the window are not judged again, because the values before them are not loaded. */
const unjudged = 25;
/** For deterministic metrics: rustc-perf's threshold when the noise is unknown. */
const leastStep = 0.002;
/** With eight metrics, about 60,000 numbers at once. */
const casesAtOnce = 50;
/** Far longer than an examination takes; after a server dies, another one continues after this time. */
const retryAfterMs = 10 * 60_000;

/** Examines the series of one artifact that has new results. Returns false when there is none. */
export async function examineNext(db: Db, now: Date): Promise<boolean> {
  const again = new Date(now.getTime() + retryAfterMs);
  const taken = await takeUnexamined(db, now, again, randomUUID());
  if (taken === undefined) return false;
  await examineArtifact(db, taken.artifactId, now);
  await markExamined(db, taken);
  return true;
}

/** Finds the steps in all series that contain an artifact, a few cases per transaction. */
export async function examineArtifact(db: Db, artifactId: number, now: Date): Promise<void> {
  const suiteName = await suiteOfArtifact(db, artifactId);
  const stored = suiteName === undefined ? undefined : await findSuite(db, suiteName);
  if (stored === undefined) return;
  const ordinals = await ordinalsOf(db, stored.name);
  const metrics = metricsOf(stored.definition).filter(
    ({ name, decides }) => decides || name === stored.definition.headline,
  );
  const window = await windowAbout(db, artifactId, about);
  const cases = await measuredCases(db, artifactId);
  for (let begin = 0; begin < cases.length; begin += casesAtOnce) {
    const some = cases.slice(begin, begin + casesAtOnce);
    await examineCases(db, { artifactId, window, cases: some, metrics, ordinals, now });
  }
}

interface LookedAt {
  readonly caseId: number;
  readonly environmentId: number;
  readonly metric: number;
  /** The positions of its values in the window. */
  readonly places: readonly number[];
  readonly found: readonly FoundStep[];
}

interface ToExamine {
  readonly artifactId: number;
  readonly window: readonly number[];
  readonly cases: readonly number[];
  readonly metrics: readonly Metric[];
  readonly ordinals: ReadonlyMap<string, number>;
  readonly now: Date;
}

async function examineCases(db: Db, of: ToExamine): Promise<void> {
  const { window, cases, metrics, ordinals, now } = of;
  const own = window.indexOf(of.artifactId);
  const [series, noise] = await Promise.all([seriesAt(db, window, cases), noiseOfCases(db, cases)]);
  const limits = new Map(
    noise.map((each) => [seriesKey(each.caseId, each.environmentId, each.metric), each.change]),
  );

  const looked: LookedAt[] = [];
  for (const { caseId, environmentId, places, least } of series) {
    // Steps of a machine that did not measure this artifact are unchanged.
    if (!places.includes(own)) continue;
    for (const { name, nature } of metrics) {
      const ordinal = ordinals.get(name);
      if (ordinal === undefined) continue;
      const [taken, values]: [number[], number[]] = [[], []];
      for (let i = 0; i < places.length; i++) {
        const value = least[i]?.[ordinal - 1];
        if (value === null || value === undefined) continue;
        taken.push(places[i] ?? 0);
        values.push(value);
      }
      const key = seriesKey(caseId, environmentId, ordinal);
      const limit = nature === "noisy" ? practicalLimit(limits.get(key)) : leastStep;
      looked.push({
        caseId,
        environmentId,
        metric: ordinal,
        places: taken,
        found: findSteps(values, limit),
      });
    }
    // Other calls are answered in between.
    await nextTurn();
  }

  await db.transaction(async (tx) => {
    const known = await holdPoints(tx, window, cases);
    const placeOf = new Map(window.map((id, place) => [id, place]));
    const knownOf = new Map<string, KnownPoint[]>();
    for (const each of known) {
      const key = seriesKey(each.caseId, each.environmentId, each.metric);
      knownOf.set(key, [...(knownOf.get(key) ?? []), each]);
    }
    const keep: FoundPoint[] = [];
    const forget: KnownPoint[] = [];
    for (const { caseId, environmentId, metric, places, found } of looked) {
      const here = knownOf.get(seriesKey(caseId, environmentId, metric)) ?? [];
      const before = here.map((each) => ({ ...each, place: placeOf.get(each.artifactId) ?? -1 }));
      const from = window.length > about.before ? unjudged : 0;
      const settled = settleSteps(found, places, before, from);
      forget.push(...before.filter(({ place }) => settled.forget.includes(place)));
      for (const { index, p, meanBefore, meanAfter } of settled.keep) {
        const artifactId = window[places[index] ?? -1];
        const beforeId = window[places[index - 1] ?? -1];
        if (artifactId === undefined || beforeId === undefined) continue;
        keep.push({
          caseId,
          metric,
          environmentId,
          artifactId,
          beforeId,
          meanBefore,
          meanAfter,
          p,
        });
      }
    }
    await deleteDisprovedPoints(tx, forget);
    await storeFoundPoints(tx, keep, now);
  });
}
