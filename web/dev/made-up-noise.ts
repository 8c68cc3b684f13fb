import type { CaseNoise, LimitSource, MetricNoise } from "#api/benchmark-noise.ts";
import type { MetricNature } from "#core/benchmark-metric.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import { madeUpMetrics } from "./made-up-comparison.ts";
import { noise, tagOf } from "./made-up-series.ts";

const minute = 60_000;
const sizes: Readonly<Record<MetricNature, number>> = {
  exact: 0,
  deterministic: 0.004,
  noisy: 0.05,
};
const learned: Readonly<Record<MetricNature, { limit: number; from: LimitSource }>> = {
  exact: { limit: 0, from: "exact" },
  deterministic: { limit: 0.008, from: "runs" },
  noisy: { limit: 0.031, from: "self-tests" },
};

/** The noise of a case on two kinds of machines; the older machine has no self-test. */
export function madeUpNoise(of: TestCase, dates: readonly number[], now: Date): CaseNoise {
  const newest = dates.toReversed();
  const metricsOn = (machine: string, selfTests: number, from: number): MetricNoise[] =>
    madeUpMetrics.map((metric) => {
      const size = sizes[metric.nature];
      const part = (n: number, what: string) =>
        size * noise(`${caseKey(of)} ${metric.name} ${machine} ${what} ${n}`);
      const changes = Array.from({ length: selfTests }, (_, n) => ({
        at: new Date(now.getTime() - n * 90 * minute).toISOString(),
        change: part(n, "self-test") * 0.6,
      }));
      return {
        metric,
        runs: newest.slice(from, from + 30).map((at, n) => ({
          artifact: tagOf(at),
          iterations: 5,
          scatter: part(n, "runs"),
        })),
        selfTests: changes,
        selfTestsP95: selfTests === 0 ? null : size * 0.58,
        fence: metric.nature === "deterministic" ? 0.0031 : null,
        ...learned[metric.nature],
      };
    });
  return {
    suite: "typescript",
    case: of,
    machines: [
      {
        fingerprint: "9be0214c00",
        facts: { cpu: "AMD EPYC 7763", kernel: "6.12.9" },
        collectors: ["barn-1"],
        newest: tagOf(newest[0] ?? 0),
        metrics: metricsOn("9be0214c00", 60, 0),
      },
      {
        fingerprint: "5f1c77aa90",
        facts: { cpu: "AMD EPYC 7763", kernel: "6.12.4" },
        collectors: ["barn-1"],
        newest: tagOf(newest[12] ?? 0),
        metrics: metricsOn("5f1c77aa90", 0, 12),
      },
    ],
  };
}
