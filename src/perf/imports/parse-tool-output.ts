import type { z } from "zod";
import type { ImportResults } from "#api/benchmark-history.ts";
import { parseCriterion } from "./criterion.ts";
import { parseGoBench } from "./go-bench.ts";
import { parseGoogleBenchmark } from "./google-benchmark.ts";
import { parseHyperfine } from "./hyperfine.ts";
import type { ImportedCase } from "./imported-case.ts";
import { parseJmh } from "./jmh.ts";
import { parsePytestBenchmark } from "./pytest-benchmark.ts";
import { parseTinybench } from "./tinybench.ts";
import { parseVitestBench } from "./vitest-bench.ts";

export type { ImportedCase } from "./imported-case.ts";

export type BenchmarkTool = z.output<typeof ImportResults>["tool"];

const parsers: Record<BenchmarkTool, (text: string) => ImportedCase[]> = {
  hyperfine: parseHyperfine,
  criterion: parseCriterion,
  "google-benchmark": parseGoogleBenchmark,
  "pytest-benchmark": parsePytestBenchmark,
  "go-bench": parseGoBench,
  vitest: parseVitestBench,
  tinybench: parseTinybench,
  jmh: parseJmh,
};

/** Parses the untrusted output of another tool. Throws `invalid_argument` with the place and the reason. */
export function parseToolOutput(tool: BenchmarkTool, text: string): ImportedCase[] {
  // Windows tools write a byte order mark at the beginning of a file.
  return parsers[tool](text.startsWith("\ufeff") ? text.slice(1) : text);
}
