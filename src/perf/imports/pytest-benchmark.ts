import { z } from "zod";
import { type ImportedCase, ImportedCases, readJson, wallTime } from "./imported-case.ts";

const Saved = z.object({
  benchmarks: z.array(
    z.object({
      name: z.string(),
      fullname: z.string().optional(),
      stats: z.object({ min: z.number(), data: z.array(z.number()).min(1).optional() }),
    }),
  ),
});

/** Parses `pytest --benchmark-json`. Without `--benchmark-save-data` it contains only the lowest of its rounds. */
export function parsePytestBenchmark(text: string): ImportedCase[] {
  const cases = new ImportedCases("pytest-benchmark");
  for (const { name, fullname, stats } of readJson("pytest-benchmark", text, Saved).benchmarks) {
    cases.add(
      fullname ?? name,
      (stats.data ?? [stats.min]).map((seconds) => [[wallTime, seconds]]),
    );
  }
  return cases.all();
}
