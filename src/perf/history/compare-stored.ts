import {
  type BenchmarkFailure,
  type ComparedArtifacts,
  compareArtifacts,
} from "#comparison/compare-artifacts.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { categoryOf } from "#suites/category-of.ts";
import { metricsOf } from "#suites/metrics-of.ts";
import type { Suite } from "#suites/suite.ts";
import { errorsOf, noiseOf, pairsOf } from "./evidence.store.ts";
import {
  casesOf,
  type Figures,
  figuresOf,
  fingerprintsOf,
  ordinalsOf,
  warningsOf,
} from "./figures.store.ts";
import { historiesWanted, seriesKey } from "./history-wanted.ts";
import { type LineArtifact, measuredBefore } from "./line.store.ts";
import { measuredOf, type Names, namedMetrics, pairedOf } from "./measured-of.ts";
import { farthestBack, readHistories } from "./read-histories.ts";

interface ToCompare {
  readonly suite: Suite;
  readonly before: LineArtifact;
  readonly after: LineArtifact;
  /** Only cases of this metric; undefined: of all metrics. */
  readonly metric: string | undefined;
  /** The result of `predecessorsOf` for `before`, if the caller has it. */
  readonly predecessors?: readonly number[] | undefined;
}

/** Compares the stored results of two artifacts. Reads in three round trips, or four when series have gaps. */
export async function compareStored(
  tx: Tx,
  { suite, before, after, metric, predecessors }: ToCompare,
): Promise<ComparedArtifacts & { readonly metrics: readonly Metric[] }> {
  const ids = [before.id, after.id];
  const [cases, fingerprints, ordinals, figures, warned, pairs, failed, earlier, limits] =
    await Promise.all([
      casesOf(tx, suite.suite),
      fingerprintsOf(tx),
      ordinalsOf(tx, suite.suite),
      figuresOf(tx, ids),
      warningsOf(tx, ids),
      pairsOf(tx, after.id, before.id),
      errorsOf(tx, ids),
      predecessors ?? predecessorsOf(tx, suite.suite, before),
      limitsOf(tx, ids),
    ]);
  const metrics = metricsOf(suite);
  const of = (artifact: LineArtifact) =>
    figures.filter(({ artifactId }) => artifactId === artifact.id);
  const wanted = historiesWanted({
    before: of(before),
    after: of(after),
    metrics,
    ordinals,
    shown: metric,
  });
  const histories = await readHistories(tx, before.id, earlier, wanted);

  const names: Names = { cases, fingerprints, metrics: namedMetrics(ordinals) };
  const numbers = numbersOf(names, ordinals);
  const warnings = new Map(warned.map((each) => [figuresKey(each), each.warnings]));
  const measured = (artifact: LineArtifact) =>
    measuredOf(of(artifact), names, (each) => warnings.get(figuresKey(each)) ?? []);
  const failures = (artifact: LineArtifact): BenchmarkFailure[] =>
    failed
      .filter(({ artifactId }) => artifactId === artifact.id)
      .map(({ benchmark, caseId, message }) => ({
        benchmark,
        case: keyOfCase(caseId === null ? undefined : cases.get(caseId)),
        message,
      }));

  return {
    metrics,
    ...compareArtifacts({
      metrics,
      metric,
      before: measured(before),
      after: measured(after),
      categoryOf: (testCase) => categoryOf(suite, testCase),
      historyOf: (testCase, name, fingerprint) =>
        histories.get(numbers(testCase, name, fingerprint)) ?? [],
      pairs: pairedOf(pairs, names),
      limitOf: (testCase, name, fingerprint) => limits.get(numbers(testCase, name, fingerprint)),
      errors: { before: failures(before), after: failures(after) },
      rounds: suite.pairs.rounds,
    }),
  };
}

/** An artifact outside of the main line has none, and the fixed threshold applies, as in rustc-perf. */
export async function predecessorsOf(
  tx: Tx,
  suite: string,
  before: LineArtifact,
): Promise<number[]> {
  if (before.kind !== "master") return [];
  return (await measuredBefore(tx, suite, before, farthestBack)).map(({ id }) => id);
}

async function limitsOf(tx: Tx, artifactIds: readonly number[]): Promise<Map<string, number>> {
  const noise = await noiseOf(tx, artifactIds);
  return new Map(
    noise.map((each) => [seriesKey(each.caseId, each.environmentId, each.metric), each.change]),
  );
}

/** Returns the key by numbers for a case, a metric and a fingerprint. */
function numbersOf({ cases, fingerprints }: Names, ordinals: ReadonlyMap<string, number>) {
  const caseIds = new Map([...cases].map(([id, testCase]) => [caseKey(testCase), id]));
  const environmentIds = new Map([...fingerprints].map(([id, text]) => [text, id]));
  // Most callers pass the same objects that they received.
  const known = new Map([...cases].map(([id, testCase]) => [testCase, id]));
  return (testCase: TestCase, metric: string, fingerprint: string) =>
    seriesKey(
      known.get(testCase) ?? caseIds.get(caseKey(testCase)) ?? 0,
      environmentIds.get(fingerprint) ?? 0,
      ordinals.get(metric) ?? 0,
    );
}

function figuresKey(each: Pick<Figures, "artifactId" | "caseId" | "environmentId">): string {
  return `${each.artifactId} ${each.caseId} ${each.environmentId}`;
}

function keyOfCase(testCase: TestCase | undefined): string | null {
  return testCase === undefined ? null : caseKey(testCase);
}
