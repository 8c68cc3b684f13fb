import type { LimitSource, MetricNoise } from "#api/benchmark-noise.ts";
import { percentText } from "../benchmarks/figure-text.ts";

const sources: Readonly<Record<LimitSource, string>> = {
  exact: "the metric is exact: runs of equal programs never differ",
  least: "the observed noise is below the smallest change that is reported",
  history: "computed from the 30 newest artifacts",
  runs: "twice the range of the runs of the newest artifact",
  "self-tests": "the differences between equal artifacts in self-tests",
  unseen: "its noise is not known: run it more than once, or wait for a self-test",
};

/** Describes the source of a limit. */
export function sourceText(from: LimitSource): string {
  return sources[from];
}

export function limitText({ limit, from }: Pick<MetricNoise, "limit" | "from">): string {
  return from === "exact" ? "any difference" : percentText(limit);
}

/** Returns the median and the maximum of a list, as percentages. */
export function spreadText(parts: readonly number[]): string {
  if (parts.length === 0) return "not seen";
  const sorted = parts.toSorted((a, b) => a - b);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
  return `${percentText(middle)}, at most ${percentText(sorted.at(-1) ?? 0)}`;
}
