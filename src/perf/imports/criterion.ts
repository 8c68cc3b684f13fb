import { z } from "zod";
import {
  checked,
  type ImportedCase,
  ImportedCases,
  quoted,
  readJson,
  refused,
  secondsOf,
  wallTime,
} from "./imported-case.ts";

const tool = "criterion";

const Message = z.object({ reason: z.string() });
const Complete = z
  .object({
    id: z.string(),
    iteration_count: z.array(z.number().positive()).min(1),
    measured_values: z.array(z.number()),
    unit: z.string(),
  })
  .refine(
    ({ iteration_count, measured_values }) => iteration_count.length === measured_values.length,
    "as many measured values as iteration counts",
  );

const Estimate = z.object({ point_estimate: z.number() });
const Estimates = z.object({
  mean: Estimate,
  median: Estimate,
  /** Null when criterion used flat sampling. */
  slope: Estimate.nullish(),
});

/**
 * Parses the output of `cargo criterion --message-format=json`, one message per line; or one `estimates.json`; or
 * several of those, by name: `{"fib 20": {…}, …}`.
 */
export function parseCriterion(text: string): ImportedCase[] {
  const cases = new ImportedCases(tool);
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (/^\s*\{\s*"reason"/.test(text)) {
    for (const [at, line] of lines.entries()) addMessage(cases, line, at + 1);
    return cases.all();
  }
  const value = readJson(tool, text, z.record(z.string(), z.unknown()));
  const named = "mean" in value ? { benchmark: value } : value;
  for (const [name, each] of Object.entries(named)) {
    const { slope, mean } = checked(tool, each, Estimates, name);
    // Always nanoseconds. Criterion itself shows the slope if there is one.
    cases.add(name, [[[wallTime, (slope ?? mean).point_estimate * 1e-9]]]);
  }
  return cases.all();
}

function addMessage(cases: ImportedCases, line: string, at: number): void {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw refused(tool, `line ${at} is no JSON: ${quoted(line)}`);
  }
  const where = `line ${at}`;
  if (checked(tool, value, Message, where).reason !== "benchmark-complete") return;
  const { id, iteration_count, measured_values, unit } = checked(tool, value, Complete, where);
  const seconds = secondsOf(tool, unit);
  // Each value is the total time of as many runs as its count states.
  cases.add(
    id,
    measured_values.map((total, i) => [[wallTime, (total / (iteration_count[i] ?? 1)) * seconds]]),
  );
}
