import {
  between,
  exponential,
  logNormal,
  pareto,
  type Random,
  randomFrom,
} from "#simulate/random.ts";
import {
  type Pool,
  type Trace,
  type TraceClass,
  type TraceExecution,
  traceFormat,
} from "#simulate/trace.ts";

export const GiB = 2 ** 30;
export const MiB = 2 ** 20;
export const hour = 3_600_000;

const elastic: Pool = { kind: "elastic", most: 400, startDelayMs: 20_000, idleMs: 120_000 };

/** Classes 1, 2, 4 and 8 with as many CPUs and 4 GiB for each. */
export function classesWith(
  priceOf: (sizeClass: number) => number = (sizeClass) => sizeClass,
  poolOf: (sizeClass: number) => Pool = () => elastic,
): TraceClass[] {
  return [1, 2, 4, 8].map((sizeClass) => ({
    sizeClass,
    cpus: sizeClass,
    memoryBytes: sizeClass * 4 * GiB,
    price: priceOf(sizeClass),
    pool: poolOf(sizeClass),
  }));
}

export function traceOf(
  name: string,
  executions: readonly TraceExecution[],
  classes = classesWith(),
): Trace {
  return {
    header: {
      format: traceFormat,
      name,
      classes,
      order: "longest-first",
      calendarRate: 1,
      lostRate: 0,
      infrastructureRate: 0,
      hiddenOutOfMemoryRate: 0.2,
    },
    executions: [...executions].sort((one, other) => one.at - other.at),
  };
}

/** The needs of one execution of an action; omitted fields have the defaults. */
type Need = Pick<TraceExecution, "serialMs" | "parallelMs" | "width" | "peakMemoryBytes"> &
  Partial<Pick<TraceExecution, "timeoutMs" | "ownTimeoutMs">>;

/** An action: the needs of its executions, by their number and by the progress of the trace (0 to 1). */
export type Needs = (number: number, progress: number) => Need;

interface Arrivals {
  readonly executions: number;
  readonly meanGapMs: number;
}
const usualArrivals: Arrivals = { executions: 6_000, meanGapMs: 1_000 };

/** Returns a stream of seeded random numbers that differs for each kind of trace. */
export function randomOf(kind: number, seed: number): Random {
  return randomFrom(seed * 1_000 + kind);
}

/**
 * Executions of some actions that arrive one by one, as a Poisson process.
 *
 * Actions have different frequencies: the most popular is about twenty times as frequent as the rarest.
 */
export function poisson(
  random: Random,
  actions: readonly Needs[],
  { executions, meanGapMs }: Arrivals = usualArrivals,
): TraceExecution[] {
  const popularity = actions.map(() => pareto(random, 1, 1.2, 20));
  const sums: number[] = [];
  let sum = 0;
  for (const each of popularity) sums.push((sum += each));
  const numbers = actions.map(() => 0);
  let at = 0;
  return Array.from({ length: executions }, (_, i) => {
    at += exponential(random, meanGapMs);
    const drawn = random() * sum;
    const place = Math.max(
      0,
      sums.findIndex((each) => drawn < each),
    );
    const number = numbers[place] ?? 0;
    numbers[place] = number + 1;
    const needs = actions[place] as Needs;
    return executionOf(place, at, needs(number, i / executions));
  });
}

/** Three actions share a target, and ten targets a mnemonic. */
export function executionOf(action: number, at: number, need: Need): TraceExecution {
  const target = Math.floor(action / 3);
  return {
    at: Math.round(at),
    keys: {
      action: `a${action}`,
      target: `//t${target}`,
      mnemonic: `M${Math.floor(target / 10)}`,
      platform: "linux",
    },
    serialMs: Math.round(need.serialMs),
    parallelMs: Math.round(need.parallelMs),
    width: need.width,
    peakMemoryBytes: Math.round(need.peakMemoryBytes),
    timeoutMs: need.timeoutMs ?? hour,
    ...(need.ownTimeoutMs !== undefined && { ownTimeoutMs: need.ownTimeoutMs }),
    flakyRate: 0,
  };
}

/** How an action divides its work among CPUs. */
export interface Sharing {
  /** The parallel share of the CPU time. */
  readonly share: number;
  readonly width: number;
}
export const serial: Sharing = { share: 0, width: 1 };

export function parallel(random: Random, leastShare: number, mostShare: number): Sharing {
  return {
    share: between(random, leastShare, mostShare),
    width: 2 ** (1 + Math.floor(random() * 4)),
  };
}

export function needOf(
  cpuMs: number,
  { share, width }: Sharing,
  peakMemoryBytes: number,
): Pick<Need, "serialMs" | "parallelMs" | "width" | "peakMemoryBytes"> {
  return {
    serialMs: Math.max(5, cpuMs * (1 - share)),
    parallelMs: cpuMs * share,
    width,
    peakMemoryBytes,
  };
}

/** Seconds at the median, minutes at most, on one CPU. */
export function usualWork(random: Random): number {
  return Math.min(200_000, logNormal(random, 6_000, 1));
}

/** Usually some hundred MiB, below the smallest class's memory. */
export function usualMemory(random: Random): number {
  return Math.min(2.5 * GiB, logNormal(random, 200 * MiB, 0.9));
}

/** A few per cent to a fifth between executions. */
export function noisy(random: Random, value: number, sigma: number): number {
  return logNormal(random, value, sigma);
}
