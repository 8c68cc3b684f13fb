import { z } from "zod";
import type { Metric } from "#core/benchmark-metric.ts";
import {
  type ImportedCase,
  ImportedCases,
  quoted,
  readJson,
  refused,
  secondsPer,
  throughput,
  wallTime,
} from "./imported-case.ts";

const tool = "jmh";

const Results = z.array(
  z.object({
    benchmark: z.string(),
    mode: z.string(),
    params: z.record(z.string(), z.string()).optional(),
    primaryMetric: z.object({
      score: z.number(),
      scoreUnit: z.string(),
      /** Iterations by fork; absent in mode `sample`, which writes a histogram. */
      rawData: z.array(z.array(z.number())).optional(),
    }),
  }),
);

/** Parses `-rf json`. The same benchmark in several modes, or with several parameters, becomes several cases. */
export function parseJmh(text: string): ImportedCase[] {
  const cases = new ImportedCases(tool);
  for (const { benchmark, mode, params, primaryMetric } of readJson(tool, text, Results)) {
    const { metric, scale } = unitOf(primaryMetric.scoreUnit);
    const of = Object.entries(params ?? {}).map(([name, value]) => `${name}=${value}`);
    const raw = (primaryMetric.rawData ?? []).flat();
    cases.add(
      [benchmark, ...of, mode].join(":"),
      (raw.length > 0 ? raw : [primaryMetric.score]).map((score) => [[metric, score * scale]]),
    );
  }
  return cases.all();
}

/** `us/op` is a time, `ops/us` a throughput. */
function unitOf(unit: string): { metric: Metric; scale: number } {
  const [above = "", below = ""] = unit.split("/");
  const time = below === "op" ? secondsPer.get(above) : undefined;
  if (time !== undefined) return { metric: wallTime, scale: time };
  const per = above === "ops" ? secondsPer.get(below) : undefined;
  if (per !== undefined) return { metric: throughput, scale: 1 / per };
  throw refused(tool, `unknown unit ${quoted(unit)}`);
}
