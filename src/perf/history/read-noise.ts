import type { CaseNoise, MetricNoise } from "#api/benchmark-noise.ts";
import { deterministicFence } from "#comparison/fence.ts";
import { learnedLimit } from "#comparison/learned-limit.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import type { TestCase } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { metricsOf } from "#suites/metrics-of.ts";
import { seriesKey } from "./history-wanted.ts";
import { artifactById, measuredBefore } from "./line.store.ts";
import {
  machinesOf,
  newestRuns,
  type RunsOfArtifact,
  type SelfTested,
  selfTestsOf,
} from "./noise.store.ts";
import { farthestBack, readHistories } from "./read-histories.ts";
import { findSeriesParts } from "./read-series.ts";

/** The number of artifacts that are shown with their runs. */
const shownArtifacts = 30;
/** The number of comparisons of equal artifacts on which limits are based. */
const shownSelfTests = 200;
/** Kinds of machines: each change of a kernel creates another, and only the last few are relevant. */
const shownMachines = 6;

/**
 * Returns how much each metric of a case varies on each kind of machine without a cause, and the limits learned from
 * that.
 */
export async function readNoise(
  tx: Tx,
  query: { readonly suite: string; readonly case: TestCase },
): Promise<CaseNoise> {
  const { suite, ordinals, caseId } = await findSeriesParts(tx, query.suite, query.case);
  const [runs, tested] = await Promise.all([
    newestRuns(tx, caseId, shownArtifacts),
    selfTestsOf(tx, caseId, shownSelfTests),
  ]);
  const ids = [...new Set([...runs, ...tested].map(({ environmentId }) => environmentId))]
    .toSorted((a, b) => b - a)
    .slice(0, shownMachines);
  const metrics = metricsOf(suite);
  const machines = await machinesOf(tx, ids);
  const read: CaseNoise["machines"][number][] = [];
  for (const id of ids) {
    const machine = machines.find((each) => each.id === id);
    if (machine === undefined) continue;
    const its = runs.filter(({ environmentId }) => environmentId === id);
    const tests = tested.filter(({ environmentId }) => environmentId === id);
    const historyOf = await historiesBefore(tx, { suite: query.suite, caseId, runs: its });
    read.push({
      fingerprint: machine.fingerprint,
      facts: machine.facts,
      collectors: [...new Set(its.map(({ collector }) => collector))],
      newest: its[0]?.artifact ?? null,
      metrics: metrics.flatMap((metric) => {
        const ordinal = ordinals.get(metric.name);
        if (ordinal === undefined) return [];
        const noise = metricNoise(metric, ordinal, its, tests, historyOf(ordinal));
        return noise === undefined ? [] : [noise];
      }),
    });
  }
  return { suite: query.suite, case: query.case, machines: read };
}

/**
 * Returns values of a metric at the newest artifacts of the main line, as a comparison of the next artifact would read
 * them.
 */
async function historiesBefore(
  tx: Tx,
  of: { readonly suite: string; readonly caseId: number; readonly runs: readonly RunsOfArtifact[] },
): Promise<(ordinal: number) => readonly number[]> {
  const newest = of.runs.find(({ isMaster }) => isMaster);
  const artifact = newest === undefined ? undefined : await artifactById(tx, newest.artifactId);
  if (newest === undefined || artifact === undefined) return () => [];
  const before = await measuredBefore(tx, of.suite, artifact, farthestBack);
  const wanted = newest.least.map((_, i) => ({
    caseId: of.caseId,
    environmentId: newest.environmentId,
    ordinal: i + 1,
  }));
  const ids = before.map(({ id }) => id);
  const histories = await readHistories(tx, artifact.id, ids, wanted);
  return (ordinal) => histories.get(seriesKey(of.caseId, newest.environmentId, ordinal)) ?? [];
}

/** Undefined: nothing of the metric was measured on the machine. */
function metricNoise(
  metric: Metric,
  ordinal: number,
  runs: readonly RunsOfArtifact[],
  tests: readonly SelfTested[],
  history: readonly number[],
): MetricNoise | undefined {
  const seen = runs.flatMap(({ artifact, iterations, scatter }) => {
    const value = scatter?.[ordinal - 1];
    return value === null || value === undefined ? [] : [{ artifact, iterations, scatter: value }];
  });
  const tested = tests.find((each) => each.metric === ordinal);
  const isMeasured = runs.some(({ least }) => (least[ordinal - 1] ?? null) !== null);
  if (!isMeasured && tested === undefined) return undefined;
  const newest = runs[0]?.scatter?.[ordinal - 1] ?? undefined;
  const fence = metric.nature === "deterministic" ? deterministicFence(history) : undefined;
  return {
    metric,
    runs: seen,
    selfTests: (tested?.at ?? []).map((at, i) => ({
      at: new Date(at).toISOString(),
      change: tested?.changes[i] ?? 0,
    })),
    selfTestsP95: tested?.p95 ?? null,
    fence: fence === undefined || fence.history === 0 ? null : fence.threshold,
    ...learnedLimit(metric.nature, { history, runs: newest, selfTests: tested?.p95 }),
  };
}
