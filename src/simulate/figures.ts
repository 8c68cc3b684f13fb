import { defaultSettings } from "#size-classes/settings.ts";
import { firstStoppingEvent } from "./first-stopping-event.ts";
import type { ExecutionRecord, Simulated } from "./records.ts";
import { durationOn, type Trace } from "./trace.ts";

/** The figures of a strategy over a range of executions. Costs are in the farm's unit: price × seconds. */
interface SpanFigures {
  readonly executions: number;
  /** The cost of all runs of these executions, including retries, hedges and background runs. */
  readonly busyCost: number;
  /** busyCost plus the price of delay × all seconds of waiting and running. */
  readonly objective: number;
  readonly latencyMs: Percentiles;
}

interface Percentiles {
  readonly mean: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export interface Figures extends SpanFigures {
  readonly strategy: string;
  /** The cost of busy and idle time. */
  readonly totalCost: number;
  readonly idleCost: number;
  readonly makespanMs: number;
  readonly retries: number;
  readonly hedges: number;
  readonly backgroundRuns: number;
  /** Executions that succeeded, but took longer after their first start than the original design's acceptable time. */
  readonly slowerThanAcceptable: number;
  readonly failures: number;
  /** Failures reported to clients that the same attempt would not have had on the largest class with all its time. */
  readonly falseFailures: number;
  /** The number of runs by class and in total; first and later runs, without background runs. */
  readonly runsByClass: readonly number[];
  /** Executions whose action had already run this often. */
  readonly afterTen: SpanFigures;
}

const learntAfter = 10;

export function figuresOf(
  trace: Trace,
  simulated: Simulated,
  seed: number,
  priceOfDelay = defaultSettings.priceOfDelay,
): Figures {
  const { classes } = trace.header;
  const { executions, runs, workers } = simulated;
  const priceOf = (classIndex: number) => classes[classIndex]?.price ?? 0;
  const costs = executions.map(() => 0);
  for (const { execution, classIndex, startedAt, endedAt } of runs)
    costs[execution] =
      (costs[execution] ?? 0) + (priceOf(classIndex) * (endedAt - startedAt)) / 1000;
  const span = (indexes: readonly number[]) => spanOf(executions, costs, indexes, priceOfDelay);
  const all = span(executions.map((_, index) => index));
  const totalCost = workers.reduce(
    (sum, { classIndex, since, until }) => sum + (priceOf(classIndex) * (until - since)) / 1000,
    0,
  );
  const failed = executions.flatMap(({ end }, index) => (end === "succeeded" ? [] : [index]));
  const foreground = runs.filter(({ purpose }) => purpose !== "background");
  const counted = (purpose: string) => runs.filter((run) => run.purpose === purpose).length;
  return {
    strategy: simulated.strategy,
    ...all,
    totalCost,
    idleCost: totalCost - all.busyCost,
    makespanMs:
      executions.reduce((last, { endedAt }) => Math.max(last, endedAt), 0) -
      (trace.executions[0]?.at ?? 0),
    retries: counted("retry"),
    hedges: counted("hedge"),
    backgroundRuns: counted("background"),
    slowerThanAcceptable: executions.filter((each, index) => isSlow(trace, each, index)).length,
    failures: failed.length,
    falseFailures: failed.filter((index) => !failsOnLargest(trace, executions[index], index, seed))
      .length,
    runsByClass: classes.map(
      (_, index) => foreground.filter(({ classIndex }) => classIndex === index).length,
    ),
    afterTen: span(indexesAfter(trace, learntAfter)),
  };
}

function spanOf(
  executions: readonly ExecutionRecord[],
  costs: readonly number[],
  indexes: readonly number[],
  priceOfDelay: number,
): SpanFigures {
  let busyCost = 0;
  const latencies: number[] = [];
  for (const index of indexes) {
    const execution = executions[index];
    if (execution === undefined) continue;
    busyCost += costs[index] ?? 0;
    latencies.push(execution.endedAt - execution.submittedAt);
  }
  const sumMs = latencies.reduce((sum, each) => sum + each, 0);
  return {
    executions: latencies.length,
    busyCost,
    objective: busyCost + (priceOfDelay * sumMs) / 1000,
    latencyMs: percentilesOf(latencies, sumMs),
  };
}

/** The nearest rank, so that each percentile is a real latency. */
function percentilesOf(latencies: readonly number[], sumMs: number): Percentiles {
  const sorted = [...latencies].sort((one, other) => one - other);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return {
    mean: sorted.length === 0 ? 0 : sumMs / sorted.length,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
  };
}

/**
 * Returns whether an execution was too slow: by the original design's T_acceptable for the class on which it ended, and
 * its minimum, below which the duration does not matter.
 */
function isSlow(trace: Trace, record: ExecutionRecord, index: number): boolean {
  const largest = trace.header.classes.at(-1);
  const on = trace.header.classes[record.classIndex];
  const execution = trace.executions[index];
  if (record.end !== "succeeded" || !largest || !on || !execution) return false;
  const { acceptableIncreaseExponent, minimumAcceptableMs } = defaultSettings;
  const growth = (largest.sizeClass / on.sizeClass) ** acceptableIncreaseExponent;
  const acceptableMs = Math.max(durationOn(execution, largest.cpus) * growth, minimumAcceptableMs);
  return record.endedAt - record.startedAt > acceptableMs;
}

/** Failures of machines happen on every class. */
function failsOnLargest(
  trace: Trace,
  record: ExecutionRecord | undefined,
  index: number,
  seed: number,
): boolean {
  const largest = trace.header.classes.at(-1);
  const execution = trace.executions[index];
  if (!record || !largest || !execution || record.end === "lost") return true;
  const sound = { ...trace.header, lostRate: 0, infrastructureRate: 0 };
  const there = firstStoppingEvent(sound, execution, largest, {
    seed,
    execution: index,
    run: 0,
    attempt: record.attempt,
    timeoutMs: execution.timeoutMs,
  });
  return there.end !== "succeeded";
}

function indexesAfter(trace: Trace, before: number): number[] {
  const seen = new Map<string, number>();
  return trace.executions.flatMap(({ keys: { action } }, index) => {
    const times = seen.get(action) ?? 0;
    seen.set(action, times + 1);
    return times >= before ? [index] : [];
  });
}
