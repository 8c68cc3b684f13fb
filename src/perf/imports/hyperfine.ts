import { z } from "zod";
import { type ImportedCase, ImportedCases, maxRss, readJson, wallTime } from "./imported-case.ts";

const Exported = z.object({
  results: z.array(
    z.object({
      command: z.string(),
      times: z.array(z.number()).min(1),
      memory_usage_byte: z.array(z.number()).optional(),
      parameters: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
    }),
  ),
});

/** Parses `hyperfine --export-json`. The command, which may already contain a parameter's value, is the name. */
export function parseHyperfine(text: string): ImportedCase[] {
  const cases = new ImportedCases("hyperfine");
  for (const result of readJson("hyperfine", text, Exported).results) {
    cases.add(
      result.command,
      result.times.map((seconds, i) => {
        const bytes = result.memory_usage_byte?.[i];
        return [[wallTime, seconds], ...(bytes === undefined ? [] : [[maxRss, bytes] as const])];
      }),
    );
  }
  return cases.all();
}
