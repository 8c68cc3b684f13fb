import type { Row } from "./row.ts";

/** Returns the table for a terminal. */
export function renderTable(result: {
  readonly show: string;
  readonly commit: string;
  readonly machine: string;
  readonly rows: readonly Row[];
}): string {
  const cells = result.rows.map((row) => [
    row.name,
    `${row.figure ?? "–"} ${row.unit}`.trim(),
    row.goal,
    row.holds ? "holds" : "DOES NOT HOLD",
    row.how,
  ]);
  const header = ["what", "figure", "goal", "", "how"];
  const widths = header.map((title, i) =>
    Math.max(title.length, ...cells.map((row) => (row[i] ?? "").length)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
      .join("  ")
      .trimEnd();
  const holding = result.rows.filter((row) => row.holds).length;
  return [
    `${result.show} at ${result.commit}`,
    result.machine,
    "",
    line(header),
    ...cells.map(line),
    "",
    `${holding} of ${result.rows.length} rows hold`,
    "",
  ].join("\n");
}
