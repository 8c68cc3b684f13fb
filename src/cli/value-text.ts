import { printableLine } from "./terminal/printable-text.ts";
import { shortened } from "./terminal/table.ts";

/** Formats a value of definitions in one line: `on`, `main`, `{"level":3}`. */
export function valueText(value: unknown, columns = 60): string {
  if (value === true) return "on";
  if (value === false) return "off";
  if (value === undefined || value === null) return "-";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return shortened(printableLine(text), columns);
}
