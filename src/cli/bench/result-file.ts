import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { EnvironmentFacts, MeasuredIteration } from "#api/collector.ts";
import { Components } from "#artifacts/component.ts";
import type { BenchmarkFailure } from "#comparison/compare-artifacts.ts";
import { relativeRange } from "#comparison/judge-counts.ts";
import type { MeasuredCase } from "#comparison/measured.ts";
import { Metric, type MetricValues } from "#core/benchmark-metric.ts";
import { Fault, messageOf } from "#core/fault.ts";
import { caseKey, SuiteWord, TestCase } from "#core/test-case.ts";

/** The measurements of one call of `grange bench run`: every sample, and its environment. */
export const ResultFile = z.object({
  grange: z.literal("benchmark results 1"),
  suite: SuiteWord,
  suiteDigest: z.string(),
  artifact: z.object({ tag: z.string().min(1).max(200), components: Components }),
  measuredAt: z.iso.datetime(),
  environment: EnvironmentFacts,
  fingerprint: z.string(),
  metrics: z.array(Metric).max(100),
  tests: z.array(
    z.object({
      case: TestCase,
      category: z.enum(["primary", "secondary"]),
      iterations: z.array(MeasuredIteration).max(1_000),
      error: z.string().nullable(),
    }),
  ),
  /** Notes about the whole call. */
  notes: z.array(z.string()),
});
export type ResultFile = z.infer<typeof ResultFile>;

export async function readResultFile(path: string): Promise<ResultFile> {
  try {
    const parsed = ResultFile.safeParse(JSON.parse(await readFile(path, "utf8")));
    if (parsed.success) return parsed.data;
    throw new Error(z.prettifyError(parsed.error));
  } catch (reason) {
    throw new Fault("invalid_argument", `${path} contains no results: ${messageOf(reason)}`, {
      cause: reason,
    });
  }
}

/** Writes the file completely or not at all. */
export async function writeResultFile(path: string, result: ResultFile): Promise<void> {
  await writeFile(`${path}.part`, `${JSON.stringify(result, undefined, 1)}\n`);
  await rename(`${path}.part`, path);
}

/** Stores results next to earlier ones of the tag; returns the file. */
export async function keepResult(results: string, result: ResultFile): Promise<string> {
  const folder = folderOf(results, result.suite, result.artifact.tag);
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${result.measuredAt.replaceAll(":", "")}.json`);
  await writeResultFile(file, result);
  return file;
}

/** Returns all results of a tag, the newest first. */
export async function keptResults(
  results: string,
  suite: string,
  tag: string,
): Promise<ResultFile[]> {
  const folder = folderOf(results, suite, tag);
  const names = await readdir(folder).catch(() => []);
  const files = names
    .filter((name) => name.endsWith(".json"))
    .toSorted()
    .reverse();
  return Promise.all(files.map((name) => readResultFile(join(folder, name))));
}

/** Returns tags that have results of a suite. */
export async function keptTags(results: string, suite: string): Promise<string[]> {
  const names = await readdir(join(results, encodeURIComponent(suite))).catch(() => []);
  return names.map(decodeURIComponent).toSorted();
}

/** `..` is a name that the encoding leaves unchanged. */
function folderOf(results: string, suite: string, tag: string): string {
  return join(results, encodeURIComponent(suite), encodeURIComponent(tag).replace(/^\.+$/, "_"));
}

/**
 * Returns the results of each case from its newest call: the lowest value of each metric, or the highest if more is
 * better.
 */
export function measuredCases(files: readonly ResultFile[], machine: string): MeasuredCase[] {
  const seen = new Set<string>();
  const cases: MeasuredCase[] = [];
  for (const { tests, fingerprint, metrics } of files) {
    for (const { case: testCase, iterations } of tests) {
      const key = `${caseKey(testCase)} ${fingerprint}`;
      if (iterations.length === 0 || seen.has(key)) continue;
      seen.add(key);
      cases.push({
        case: testCase,
        fingerprint,
        collector: machine,
        values: bestOf(iterations, metrics),
        scatter: scatterOf(iterations, metrics),
        warnings: [...new Set(iterations.flatMap(({ warnings }) => warnings))],
      });
    }
  }
  return cases;
}

/** Returns the cases that failed in their last measurement. */
export function failures(files: readonly ResultFile[]): BenchmarkFailure[] {
  const seen = new Set<string>();
  return files.flatMap(({ tests }) =>
    tests.flatMap(({ case: testCase, error }) => {
      const key = caseKey(testCase);
      if (seen.has(key)) return [];
      seen.add(key);
      return error === null ? [] : [{ benchmark: testCase.benchmark, case: key, message: error }];
    }),
  );
}

function scatterOf(
  iterations: readonly { readonly values: MetricValues }[],
  metrics: readonly Pick<Metric, "name">[],
): MetricValues {
  const scatter: MetricValues = {};
  for (const { name } of metrics) {
    const range = relativeRange(iterations.flatMap(({ values: { [name]: value } }) => value ?? []));
    if (range !== undefined) scatter[name] = range;
  }
  return scatter;
}

export function bestOf(
  iterations: readonly { readonly values: MetricValues }[],
  metrics: readonly Pick<Metric, "name" | "better">[],
): MetricValues {
  const best: MetricValues = {};
  for (const { name, better } of metrics) {
    const values = iterations.flatMap(({ values: { [name]: value } }) => value ?? []);
    if (values.length > 0)
      best[name] = better === "lower" ? Math.min(...values) : Math.max(...values);
  }
  return best;
}
