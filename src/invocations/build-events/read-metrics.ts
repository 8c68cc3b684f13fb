import { keepableText } from "#core/keepable-text.ts";
import type { BuildMetrics } from "#proto/build_event_stream/build_event_stream_pb.ts";
import { longest, most } from "./build-bounds.ts";

/**
 * Returns Bazel's numbers about a build, by name. Zeros are left out, because Bazel sends zero for unmeasured numbers.
 */
export function readMetrics(metrics: BuildMetrics): Record<string, number> {
  const { actionSummary, timingMetrics, targetMetrics, packageMetrics } = metrics;
  const figures: [string, bigint | number | undefined][] = [
    ["wallTimeMs", timingMetrics?.wallTimeInMs],
    ["cpuTimeMs", timingMetrics?.cpuTimeInMs],
    ["analysisTimeMs", timingMetrics?.analysisPhaseTimeInMs],
    ["executionTimeMs", timingMetrics?.executionPhaseTimeInMs],
    ["actionsCreated", actionSummary?.actionsCreated],
    ["actionsExecuted", actionSummary?.actionsExecuted],
    ["remoteCacheHits", actionSummary?.remoteCacheHits],
    ["targetsConfigured", targetMetrics?.targetsConfigured],
    ["packagesLoaded", packageMetrics?.packagesLoaded],
    ...(actionSummary?.runnerCount ?? [])
      .filter(({ name }) => name !== "total")
      .slice(0, most.metrics)
      .map(({ name, count }): [string, number] => [
        `run by ${keepableText(name, longest.name)}`,
        count,
      ]),
  ];
  return Object.fromEntries(
    figures.flatMap(([name, number]) => {
      const safe = Number(number ?? 0);
      return safe > 0 && Number.isSafeInteger(safe) ? [[name, safe]] : [];
    }),
  );
}
