import { z } from "zod";
import {
  type ImportedCase,
  ImportedCases,
  quoted,
  readJson,
  refused,
  secondsOf,
  wallTime,
} from "./imported-case.ts";

const tool = "tinybench";

const Cell = z.union([z.string(), z.number()]).nullish();
const Table = z.array(z.record(z.string(), Cell).nullable());

/** Parses the JSON of `bench.table()`. Its columns changed between versions; the median is used if there is one. */
export function parseTinybench(text: string): ImportedCase[] {
  const cases = new ImportedCases(tool);
  for (const [i, row] of readJson(tool, text, Table).entries()) {
    // A task that never ran has no row.
    if (row === null) continue;
    const name = row["Task Name"] ?? row["Task name"];
    if (typeof name !== "string") throw refused(tool, `row ${i} has no "Task name"`);
    const [column, cell] = latencyIn(row) ?? [];
    if (column === undefined || cell === undefined) {
      throw refused(
        tool,
        `row ${i}, ${quoted(name)}, has no column of latencies; did the task fail?`,
      );
    }
    const unit = /\((\p{L}+)\)/u.exec(column)?.[1] ?? "ns";
    cases.add(name, [[[wallTime, figureIn(cell, name) * secondsOf(tool, unit)]]]);
  }
  return cases.all();
}

function latencyIn(
  row: Record<string, z.infer<typeof Cell>>,
): [string, string | number] | undefined {
  const patterns = [/^latency (med|median)\b/i, /^latency (avg|average)\b/i, /^average time\b/i];
  for (const pattern of patterns) {
    for (const [column, cell] of Object.entries(row)) {
      if (pattern.test(column) && cell !== null && cell !== undefined) return [column, cell];
    }
  }
  return undefined;
}

/** `1,234.5 ± 0.3%` is 1234.5. */
function figureIn(cell: string | number, name: string): number {
  if (typeof cell === "number") return cell;
  const figure = /^\s*([\d,]+(?:\.\d+)?(?:e[+-]?\d+)?)/i.exec(cell)?.[1]?.replaceAll(",", "");
  if (figure === undefined || figure === "") {
    throw refused(tool, `${quoted(name)}: ${quoted(cell)} is no figure`);
  }
  return Number(figure);
}
