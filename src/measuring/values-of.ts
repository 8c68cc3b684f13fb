import type { MetricValues } from "#core/benchmark-metric.ts";
import { compilePattern } from "#core/line-patterns/compiled-pattern.ts";
import type { Section } from "#core/test-case.ts";
import type { DefinedMetric, Suite } from "#suites/suite.ts";
import type { ProcessKind } from "./plan-run.ts";
import type { Usage } from "./processes/meters.ts";

/** The figures of one measured process. */
interface ProcessFigures {
  readonly instructions: number | undefined;
  readonly usage: Usage | undefined;
  readonly wallSeconds: number;
  readonly output: string;
  /** The sizes by the metric's `of`. */
  readonly sizes: ReadonlyMap<string, number>;
}

/** Returns the metrics of a section from a process of this kind: a counted process gives only the counts. */
export function metricsFrom(
  suite: Suite,
  section: Section,
  kind: ProcessKind,
): [name: string, metric: DefinedMetric][] {
  return Object.entries(suite.metrics).filter(
    ([, { take, sections }]) =>
      (sections?.includes(section) ?? true) &&
      (take.from === "instructions") === (kind === "counted"),
  );
}

/** Returns the values of a process, and the metrics that are missing. */
export function valuesOf(
  metrics: readonly (readonly [name: string, metric: DefinedMetric])[],
  figures: ProcessFigures,
): { values: MetricValues; missing: string[] } {
  const values: MetricValues = {};
  const missing: string[] = [];
  for (const [name, { take }] of metrics) {
    const value = valueOf(take, figures);
    if (value !== undefined && Number.isFinite(value)) values[name] = value;
    else missing.push(name);
  }
  return { values, missing };
}

function valueOf(take: DefinedMetric["take"], figures: ProcessFigures): number | undefined {
  switch (take.from) {
    case "instructions":
      return figures.instructions;
    case "user-time":
      return figures.usage?.userSeconds;
    case "system-time":
      return figures.usage?.systemSeconds;
    case "wall-time":
      return figures.wallSeconds;
    case "max-rss":
      return figures.usage?.maxRssBytes;
    case "output":
      return scaled(firstMatch(take.pattern, figures.output), take.scale);
    case "json":
      return numberAt(lastJson(figures.output), take.pointer);
    case "size":
      return figures.sizes.get(take.of);
  }
}

/** The rest of a longer line is ignored: patterns are made for lines, and their cost grows with the length. */
const longestLine = 4_096;

function firstMatch(pattern: string, output: string): number | undefined {
  const found = firstFit(pattern, output);
  return found === undefined ? undefined : numberIn(found);
}

/** Returns the text of the pattern's first group in the first line that matches. */
export function firstFit(pattern: string, output: string): string | undefined {
  const { firstGroup } = compilePattern(pattern);
  for (const line of output.split("\n")) {
    const found = firstGroup(line.slice(0, longestLine).trimEnd());
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Accepts `1,234.5` as well as `1234.5`, because programs print numbers for people. */
function numberIn(text: string): number | undefined {
  const plain = text.trim().replaceAll(/[,_\s]/g, "");
  return plain === "" ? undefined : Number(plain);
}

/** Avoids rounding errors like that of `0.1 * 3`: a stored figure must equal the figure that the program printed. */
function scaled(value: number | undefined, scale: number): number | undefined {
  return value === undefined ? undefined : Number((value * scale).toPrecision(15));
}

function lastJson(output: string): unknown {
  for (const line of output.split("\n").reverse()) {
    const text = line.trim();
    if (text === "" || !/^[[{"\-\d]/.test(text)) continue;
    try {
      return JSON.parse(text);
    } catch {
      // A line that only looks like JSON.
    }
  }
  return undefined;
}

/** RFC 6901. */
function numberAt(value: unknown, pointer: string): number | undefined {
  const steps = pointer === "" ? [] : pointer.replace(/^\//, "").split("/");
  let at = value;
  for (const step of steps) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return typeof at === "number" ? at : undefined;
}
