import { createHash } from "node:crypto";
import type { z } from "zod";
import type { Metric, MetricValues } from "#core/benchmark-metric.ts";
import { Fault, messageOf } from "#core/fault.ts";
import { SuiteWord } from "#core/test-case.ts";

/** One benchmark as another tool measured it. */
export interface ImportedCase {
  /** A word of a suite, equal for equal originals. */
  readonly benchmark: string;
  /** The tool's name for it. */
  readonly original: string;
  readonly metrics: readonly Metric[];
  /** One for each sample; times in seconds. */
  readonly iterations: readonly MetricValues[];
}

const noisy = { nature: "noisy", better: "lower", decides: true } as const;
export const wallTime: Metric = { ...noisy, name: "wall-time", unit: "seconds" };
export const cpuTime: Metric = { ...noisy, name: "cpu-time", unit: "seconds" };
export const maxRss: Metric = { ...noisy, name: "max-rss", unit: "bytes" };
export const throughput: Metric = {
  ...noisy,
  name: "throughput",
  unit: "per-second",
  better: "higher",
};
export const bytesPerSecond: Metric = { ...throughput, name: "bytes-per-second" };
export const itemsPerSecond: Metric = { ...throughput, name: "items-per-second" };
const counted = { nature: "deterministic", better: "lower", decides: true } as const;
export const allocatedBytes: Metric = { ...counted, name: "allocated-bytes", unit: "bytes" };
export const allocations: Metric = { ...counted, name: "allocations", unit: "count" };

/** Each sample is a permanent row. Ten thousand samples of a tool contain no more information. */
const mostIterations = 500;
const mostCases = 5_000;

/** Collects samples by the names that the tool uses; a name that occurs twice is one case measured twice. */
export class ImportedCases {
  readonly #tool: string;
  readonly #found = new Map<string, { metrics: Map<string, Metric>; iterations: MetricValues[] }>();

  constructor(tool: string) {
    this.#tool = tool;
  }

  add(original: string, samples: readonly (readonly [Metric, number])[][]): void {
    let known = this.#found.get(original);
    if (known === undefined) {
      if (this.#found.size === mostCases) {
        throw refused(this.#tool, `more than ${mostCases} benchmarks; split the file`);
      }
      known = { metrics: new Map(), iterations: [] };
      this.#found.set(original, known);
    }
    for (const sample of samples) {
      for (const [metric, value] of sample) {
        if (!Number.isFinite(value) || value < 0) {
          throw refused(
            this.#tool,
            `${quoted(original)}: ${metric.name} is ${value}; a figure is a number from 0 on`,
          );
        }
        known.metrics.set(metric.name, metric);
      }
      known.iterations.push(Object.fromEntries(sample.map(([{ name }, value]) => [name, value])));
    }
  }

  all(): ImportedCase[] {
    if (this.#found.size === 0) {
      throw refused(this.#tool, "no benchmark in it; hand over what the tool wrote, whole");
    }
    return [...this.#found].map(([original, { metrics, iterations }]) => ({
      benchmark: suiteWordOf(original),
      original,
      metrics: [...metrics.values()],
      iterations: thinned(iterations),
    }));
  }
}

/**
 * Returns the suite's name for a benchmark of a tool. A name that had to be changed gets a part of its digest:
 * otherwise `a b` and `a-b` would become one series.
 */
export function suiteWordOf(original: string): string {
  if (SuiteWord.safeParse(original).success) return original;
  const readable = original.replaceAll(/[^A-Za-z0-9@._+]+/g, "-").replace(/^[^A-Za-z0-9@]+/, "");
  const digest = createHash("sha256").update(original).digest("hex").slice(0, 8);
  return `${readable.slice(0, 70).replace(/-+$/, "") || "benchmark"}-${digest}`;
}

/** Keeps every k-th, so that the remaining ones are spread over the whole run. */
function thinned(iterations: readonly MetricValues[]): readonly MetricValues[] {
  const step = Math.ceil(iterations.length / mostIterations);
  return step <= 1 ? iterations : iterations.filter((_, i) => i % step === 0);
}

/** Parses JSON and checks it with a schema; throws a Fault with the place of the error. */
export function readJson<T>(tool: string, text: string, schema: z.ZodType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw refused(tool, `no JSON: ${messageOf(cause)}`);
  }
  return checked(tool, value, schema);
}

export function checked<T>(tool: string, value: unknown, schema: z.ZodType<T>, at = ""): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const path = `${at}${(issue?.path ?? []).map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("")}`;
  throw refused(
    tool,
    `at ${quoted(path === "" ? "its top" : path)}: ${issue?.message ?? "not as expected"}`,
  );
}

export function refused(tool: string, why: string): Fault {
  return new Fault("invalid_argument", `cannot read ${tool}'s output: ${why}`);
}

export function quoted(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}

/** Seconds per unit of time, by the names that tools use. */
export const secondsPer: ReadonlyMap<string, number> = new Map([
  ["ps", 1e-12],
  ["ns", 1e-9],
  ["us", 1e-6],
  ["µs", 1e-6],
  ["μs", 1e-6],
  ["ms", 1e-3],
  ["s", 1],
  ["min", 60],
  ["m", 60],
  ["h", 3_600],
  ["hr", 3_600],
  ["day", 86_400],
]);

export function secondsOf(tool: string, unit: string): number {
  const seconds = secondsPer.get(unit);
  if (seconds === undefined) throw refused(tool, `unknown unit of time ${quoted(unit)}`);
  return seconds;
}
