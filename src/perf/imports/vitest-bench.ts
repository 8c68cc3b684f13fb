import { z } from "zod";
import { type ImportedCase, ImportedCases, readJson, wallTime } from "./imported-case.ts";

const Output = z.object({
  files: z.array(
    z.object({
      filepath: z.string(),
      groups: z.array(
        z.object({
          fullName: z.string(),
          benchmarks: z.array(
            z.object({
              name: z.string(),
              /** In milliseconds, like all times in this format. Empty unless samples were requested. */
              samples: z.array(z.number()).default([]),
              /** Null for a benchmark that never ran. */
              min: z.number().nullish(),
            }),
          ),
        }),
      ),
    }),
  ),
});

/** Parses `vitest bench --outputJson`. Without samples it contains only the lowest one. */
export function parseVitestBench(text: string): ImportedCase[] {
  const cases = new ImportedCases("vitest");
  for (const { groups } of readJson("vitest", text, Output).files) {
    for (const { fullName, benchmarks } of groups) {
      for (const { name, samples, min } of benchmarks) {
        const found =
          samples.length > 0 ? samples : [min].filter((each) => typeof each === "number");
        if (found.length === 0) continue;
        cases.add(
          `${fullName} > ${name}`,
          found.map((milliseconds) => [[wallTime, milliseconds / 1_000]]),
        );
      }
    }
  }
  return cases.all();
}
