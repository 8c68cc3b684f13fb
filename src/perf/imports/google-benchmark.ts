import { z } from "zod";
import type { Metric } from "#core/benchmark-metric.ts";
import {
  bytesPerSecond,
  cpuTime,
  type ImportedCase,
  ImportedCases,
  itemsPerSecond,
  quoted,
  readJson,
  refused,
  secondsOf,
  wallTime,
} from "./imported-case.ts";

const tool = "google-benchmark";

const Run = z.object({
  name: z.string(),
  run_name: z.string().optional(),
  run_type: z.string().default("iteration"),
  aggregate_name: z.string().optional(),
  error_occurred: z.boolean().default(false),
  error_message: z.string().default(""),
  real_time: z.number().optional(),
  cpu_time: z.number().optional(),
  time_unit: z.string().default("ns"),
  bytes_per_second: z.number().optional(),
  items_per_second: z.number().optional(),
});
const Output = z.object({ benchmarks: z.array(Run) });

/**
 * Parses `--benchmark_format=json`. Means and deviations are left out, unless only those were reported: then the
 * medians are used.
 */
export function parseGoogleBenchmark(text: string): ImportedCase[] {
  const cases = new ImportedCases(tool);
  const { benchmarks } = readJson(tool, text, Output);
  const repetitions = benchmarks.filter(({ run_type }) => run_type === "iteration");
  const medians = benchmarks.filter(({ aggregate_name }) => aggregate_name === "median");
  for (const run of repetitions.length > 0 ? repetitions : medians) {
    if (run.error_occurred) {
      throw refused(tool, `${quoted(run.name)} failed: ${quoted(run.error_message)}`);
    }
    const seconds = secondsOf(tool, run.time_unit);
    const figures: [Metric, number | undefined][] = [
      [wallTime, run.real_time === undefined ? undefined : run.real_time * seconds],
      [cpuTime, run.cpu_time === undefined ? undefined : run.cpu_time * seconds],
      [bytesPerSecond, run.bytes_per_second],
      [itemsPerSecond, run.items_per_second],
    ];
    const sample = figures.flatMap(([metric, value]) =>
      value === undefined ? [] : [[metric, value] as const],
    );
    // A complexity fit has no times.
    if (sample.length > 0) cases.add(run.run_name ?? run.name, [sample]);
  }
  return cases.all();
}
