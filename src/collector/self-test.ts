import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ReportedSelfTest, ReportSelfTest } from "#api/collector.ts";
import type { PlacedArtifact } from "#artifacts/artifact-cache.ts";
import { Component } from "#artifacts/component.ts";
import { judgeEqualRuns } from "#comparison/judge-counts.ts";
import { judgePairs, practicalLimit } from "#comparison/judge-pairs.ts";
import { backoffMs } from "#core/backoff.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import { Fault, messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import type { MeasuredIteration, MeasuredPair } from "#measuring/measured-iteration.ts";
import type { ProcessKind } from "#measuring/plan-run.ts";
import { metricsFrom } from "#measuring/values-of.ts";
import { metricsOf } from "#suites/metrics-of.ts";
import { parseSuite } from "#suites/read-suite.ts";
import type { Suite } from "#suites/suite.ts";
import type { CollectorParts } from "./collector-parts.ts";
import { quietMachine } from "./quiet-machine.ts";
import { spread } from "./self-test-due.ts";
import { standingOf } from "./standing.ts";

/** How long the collector retries to send the result. */
const sendLimitMs = 10 * 60_000;

export type SelfTested = Omit<ReportSelfTest, "incarnation"> & ReportedSelfTest;

/** Returns the path of a file in the data directory that requests a self-test from a running collector. */
export function selfTestRequest(dataDir: string): string {
  return join(dataDir, "self-test-wanted");
}

/**
 * Compares the artifact that was measured last with itself, and reports the result: each verdict is a false alarm, and
 * each change is noise. Noisy metrics are judged from pairs, exact ones must be equal, deterministic ones are counted
 * twice as often as in a request. The server decides whether the collector stays active.
 */
export async function selfTest(
  parts: CollectorParts,
  incarnation: string,
  signal: AbortSignal,
): Promise<SelfTested | undefined> {
  const { memory, clock, logger } = parts;
  // The attempt counts even if it fails: the next one is tomorrow.
  await memory.keep({ selfTestAtMs: clock.now().getTime() });
  await rm(selfTestRequest(parts.config.dataDir), { force: true });
  try {
    const result = await compareWithItself(parts, signal);
    if (signal.aborted) return undefined;
    logger.info({ comparisons: result.comparisons, alarms: result.alarms }, "has tested itself");
    return { ...result, ...(await sendReport(parts, { incarnation, ...result }, signal)) };
  } catch (reason) {
    if (!signal.aborted) logger.warn({ reason: messageOf(reason) }, "could not test itself");
    return undefined;
  }
}

async function compareWithItself(
  parts: CollectorParts,
  signal: AbortSignal,
): Promise<Omit<ReportSelfTest, "incarnation">> {
  const { bench, memory, config, logger } = parts;
  const { measured } = memory.now;
  if (!measured) throw new Fault("failed_precondition", "nothing was measured yet");
  const suite = parseSuite(measured.definition, "the last measured artifact");
  const cases = spread(measured.cases, config.selfTestComparisons);
  const backend = cases[0]?.backend ?? "";
  const component = Component.parse(measured.component);
  const placed = await bench.place(suite, backend, component, signal);
  const lock = await parts.lock.take(signal, (holder) =>
    logger.info({ holder }, "waits for another process that measures on this machine"),
  );
  const compared: Compared[] = [];
  const failed: string[] = [];
  try {
    for (const [index, testCase] of cases.entries()) {
      if (signal.aborted) break;
      try {
        await quietMachine(parts, index === 0, signal);
        const pairs = await pairsOf(parts, suite, testCase, placed, signal);
        const runs = await equalRunsOf(parts, suite, testCase, placed, signal);
        compared.push({
          case: testCase,
          changes: [...changesIn(suite, pairs), ...changesOfRuns(suite, runs)],
        });
      } catch (reason) {
        if (signal.aborted) break;
        failed.push(`${caseKey(testCase)}: ${messageOf(reason)}`);
      }
    }
  } finally {
    await lock?.release();
    await bench.release(placed);
  }
  return reportOf(suite, compared, failed);
}

function pairsOf(
  { bench }: CollectorParts,
  suite: Suite,
  testCase: TestCase,
  placed: PlacedArtifact,
  signal: AbortSignal,
): Promise<MeasuredPair[]> {
  return bench.measurePairs({
    suite,
    case: testCase,
    child: placed,
    parent: placed,
    from: 0,
    stored: [],
    seed: randomUUID(),
    onPair: async () => {},
    signal,
  });
}

export interface Change {
  readonly metric: string;
  readonly verdict: string;
  /** The relative change. */
  readonly change: number;
}

export interface Compared {
  readonly case: TestCase;
  readonly changes: readonly Change[];
}

/**
 * Returns the runs for metrics that are not judged by pairs: twice as many as in a request, none without such a metric.
 */
async function equalRunsOf(
  { bench }: CollectorParts,
  suite: Suite,
  testCase: TestCase,
  placed: PlacedArtifact,
  signal: AbortSignal,
): Promise<MeasuredIteration[]> {
  const { counted, timed } = equalRunsWanted(suite, testCase);
  if (counted + timed === 0) return [];
  return bench.measureTest(suite, testCase, placed, signal, { after: 0, counted, timed });
}

/** Returns the number of runs for an A/A comparison of exact and deterministic metrics. */
export function equalRunsWanted(
  suite: Suite,
  { section }: Pick<TestCase, "section">,
): { readonly counted: number; readonly timed: number } {
  const runs = (kind: ProcessKind, usual: number) => {
    const natures = metricsFrom(suite, section, kind)
      .filter(([, { decides, nature }]) => decides && nature !== "noisy")
      .map(([, { nature }]) => nature);
    if (natures.length === 0) return 0;
    // Exact figures are equal or not, so two runs are enough.
    return 2 * (natures.includes("deterministic") ? usual : 1);
  };
  return {
    counted: runs("counted", suite.iterations.counted),
    timed: runs("timed", suite.iterations.timed),
  };
}

/** Compares the runs of one artifact as if every second one were of another artifact. */
export function changesOfRuns(suite: Suite, runs: readonly MeasuredIteration[]): Change[] {
  const judged = metricsOf(suite).filter(({ decides, nature }) => decides && nature !== "noisy");
  return judged.flatMap((metric) => {
    const values = runs.flatMap((each) => each.values[metric.name] ?? []);
    if (values.length < 2) return [];
    const isOdd = (_: number, index: number) => index % 2 === 0;
    const before = values.filter(isOdd);
    const after = values.filter((value, index) => !isOdd(value, index));
    return [{ metric: metric.name, ...judgeEqualRuns(before, after, metric) }];
  });
}

/** Returns the comparison of each deciding noisy metric that was measured in every pair. */
function changesIn(suite: Suite, pairs: readonly MeasuredPair[]): Change[] {
  if (pairs.length === 0) return [];
  const isThere = ({ name }: Metric) =>
    pairs.every(({ child, parent }) => child[name] !== undefined && parent[name] !== undefined);
  const judged = metricsOf(suite).filter(
    (metric) => metric.decides && metric.nature === "noisy" && isThere(metric),
  );
  return judged.map(({ name, better }) => {
    const figures = pairs.map(({ child, parent, parentFirst }) => ({
      child: child[name] ?? 0,
      parent: parent[name] ?? 0,
      parentFirst,
    }));
    const { rounds } = suite.pairs;
    const limit = practicalLimit(undefined);
    const rules = { limit, rounds, better };
    const { verdict, effect } = judgePairs(figures, rules);
    return { metric: name, verdict, change: effect };
  });
}

export function reportOf(
  suite: Pick<Suite, "suite">,
  compared: readonly Compared[],
  failed: readonly string[],
): Omit<ReportSelfTest, "incarnation"> {
  const alarming = ({ verdict }: Change) => verdict === "regressed" || verdict === "improved";
  const changes = compared.flatMap((each) =>
    each.changes.map((change) => ({ case: caseKey(each.case), ...change })),
  );
  const alarms = changes.filter(alarming);
  return {
    // The number of metrics; each is judged separately, as in requests.
    comparisons: changes.length,
    alarms: alarms.length,
    detail: {
      alarms: alarms.slice(0, 100),
      failed: failed.slice(0, 20),
    },
    noise: compared.flatMap((each) =>
      each.changes
        .filter(({ change }) => Number.isFinite(change))
        .map(({ metric, change }) => ({
          suite: suite.suite,
          case: each.case,
          metric,
          change: Math.abs(change),
        })),
    ),
  };
}

async function sendReport(
  { lab, contact }: CollectorParts,
  report: ReportSelfTest,
  signal: AbortSignal,
): Promise<ReportedSelfTest> {
  const begun = performance.now();
  for (let failures = 1; ; failures++) {
    try {
      return await lab.selfTest(report, signal);
    } catch (reason) {
      const isPastLimit = performance.now() - begun > sendLimitMs;
      if (standingOf(reason) !== "away" || isPastLimit || signal.aborted) throw reason;
      contact.failed(reason, "the self-test waits for the server");
      await rest(backoffMs(failures, Math.random()), signal);
    }
  }
}
