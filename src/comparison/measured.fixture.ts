import type { Metric } from "#core/benchmark-metric.ts";
import type { TestCase } from "#core/test-case.ts";
import { normal, seededRandom } from "#statistics/seeded-random.ts";
import type { ArtifactsToCompare } from "./compare-artifacts.ts";
import type { MeasuredCase, PairedCase } from "./measured.ts";

export const instructions: Metric = {
  name: "instructions",
  nature: "deterministic",
  unit: "instructions",
  better: "lower",
  decides: true,
};
export const size: Metric = {
  name: "size",
  nature: "exact",
  unit: "bytes",
  better: "lower",
  decides: true,
};
export const time: Metric = {
  name: "time",
  nature: "noisy",
  unit: "seconds",
  better: "lower",
  decides: true,
};

export function aCase(benchmark = "zod", profile = "check"): TestCase {
  return {
    section: "compile",
    benchmark,
    profile,
    scenario: "full",
    backend: "js",
    target: "linux-x64",
  };
}

/** Returns several runs with equal figures. */
function quiet(values: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, 0]));
}

export function measured(
  values: Record<string, number>,
  others: Partial<Omit<MeasuredCase, "values">> = {},
): MeasuredCase {
  return {
    case: aCase(),
    fingerprint: "f1",
    collector: "c1",
    warnings: [],
    scatter: quiet(values),
    ...others,
    values,
  };
}

/** Returns interleaved processes; the child's are slower by `shift`, with a noise of 0.5 %. */
export function pairedTimes(
  shift: number,
  others: Partial<PairedCase> & {
    readonly count?: number;
    readonly seed?: number;
    readonly spread?: number;
  } = {},
): PairedCase {
  const { count = 10, seed = 1, spread = 0.005, ...rest } = others;
  const random = seededRandom(seed);
  const figure = () => Math.exp(spread * normal(random));
  return {
    case: aCase(),
    fingerprint: "f1",
    collector: "c1",
    purpose: "paired",
    ...rest,
    pairs: Array.from({ length: count }, (_, i) => ({
      child: { time: figure() * (1 + shift) },
      parent: { time: figure() },
      parentFirst: i % 2 === 0,
    })),
  };
}

export function toCompare(some: Partial<ArtifactsToCompare>): ArtifactsToCompare {
  return {
    metrics: [instructions],
    metric: undefined,
    before: [],
    after: [],
    categoryOf: () => "primary",
    historyOf: () => [],
    pairs: [],
    limitOf: () => undefined,
    errors: { before: [], after: [] },
    ...some,
  };
}
