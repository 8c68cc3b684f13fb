import { colourSequence } from "#core/escape-sequences.ts";

/** Returns how many columns a text needs without its colours. */
export function widthOf(text: string): number {
  return Array.from(text.replace(colourSequence, "")).length;
}

/** Formats rows as lines, with each column as wide as its widest cell. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
    });
  }
  return rows.map((row) =>
    row
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)))
      .join("  ")
      .trimEnd(),
  );
}

/** Shortens a text without colours to a number of columns. */
export function shortened(text: string, columns: number): string {
  const characters = Array.from(text);
  if (characters.length <= columns) return text;
  return columns <= 1 ? "" : `${characters.slice(0, columns - 1).join("")}…`;
}
