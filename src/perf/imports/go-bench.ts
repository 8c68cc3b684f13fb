import type { Metric } from "#core/benchmark-metric.ts";
import {
  allocatedBytes,
  allocations,
  bytesPerSecond,
  type ImportedCase,
  ImportedCases,
  quoted,
  refused,
  wallTime,
} from "./imported-case.ts";

const tool = "go-bench";

const units: ReadonlyMap<string, { readonly metric: Metric; readonly scale: number }> = new Map([
  ["ns/op", { metric: wallTime, scale: 1e-9 }],
  ["B/op", { metric: allocatedBytes, scale: 1 }],
  ["allocs/op", { metric: allocations, scale: 1 }],
  ["MB/s", { metric: bytesPerSecond, scale: 1e6 }],
]);

/**
 * Parses the output of `go test -bench`, with other lines in between: a line `Benchmark… COUNT VALUE UNIT …` is one
 * sample (`-count` produces several). Units that a benchmark defined itself are left out, because their better
 * direction is unknown.
 */
export function parseGoBench(text: string): ImportedCase[] {
  const cases = new ImportedCases(tool);
  let folder = "";
  for (const [i, line] of text.split("\n").entries()) {
    const words = line.trim().split(/\s+/);
    const [first = "", count = ""] = words;
    if (first === "pkg:") folder = count;
    // For a benchmark that logs, the name is on a separate line before its figures.
    if (!/^Benchmark(\P{Ll}|$)/u.test(first) || !/^\d+$/.test(count)) continue;
    const sample = sampleIn(words.slice(2), i + 1);
    if (sample.length > 0) cases.add(folder === "" ? first : `${folder}.${first}`, [sample]);
  }
  return cases.all();
}

function sampleIn(words: readonly string[], line: number): (readonly [Metric, number])[] {
  const sample: (readonly [Metric, number])[] = [];
  for (let i = 0; i + 1 < words.length; i += 2) {
    const [figure = "", unit = ""] = [words[i], words[i + 1]];
    const value = Number(figure);
    if (figure === "" || Number.isNaN(value)) {
      throw refused(tool, `line ${line}: ${quoted(figure)} stands where a number should`);
    }
    const known = units.get(unit);
    if (known !== undefined) sample.push([known.metric, value * known.scale]);
  }
  return sample;
}
