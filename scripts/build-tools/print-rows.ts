import type { Row } from "../../bench/show/row.ts";

/** For a script that is run manually: prints its measurements, or clearly why it could not measure. */
export async function printRows(
  what: string,
  whyNot: string | undefined,
  measure: () => Promise<Row[]>,
): Promise<void> {
  if (whyNot !== undefined) {
    process.stderr.write(`SKIPPED: ${what} were not tried: ${whyNot}\n`);
    return;
  }
  const rows = await measure();
  for (const { name, figure, unit, goal, holds } of rows) {
    process.stdout.write(`${holds ? "ok    " : "FAILED"}  ${name}: ${figure} ${unit} (${goal})\n`);
  }
  process.exitCode = rows.every((row) => row.holds) ? 0 : 1;
}
