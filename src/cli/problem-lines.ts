import type { Problem } from "./api/api-failure.ts";
import type { Paint } from "./terminal/paint.ts";
import { printableLine } from "./terminal/printable-text.ts";

/** Of wider lines, only a part around the column is shown. */
const mostColumns = 100;

/** Returns a problem in a file, with its line and a caret under its position: `file:line:column: message`. */
export function problemLines(problem: Problem, text: string | undefined, paint: Paint): string[] {
  const { file, line, column, message } = problem;
  const place = [file, line, column].filter((part) => part !== null).join(":");
  const head = `${paint.bold(printableLine(place))}: ${printableLine(message)}`;
  const source = line === null ? undefined : text?.split("\n")[line - 1];
  if (source === undefined || line === null) return [head];
  const at = (column ?? 1) - 1;
  const from = at < mostColumns ? 0 : at - mostColumns / 2;
  // One column for each character, also for tabs, so that the caret is at the correct position.
  const shown = source.slice(from, from + mostColumns).replace(/[^\P{C}]/gu, " ");
  const gutter = `${line} | `;
  const caret =
    column === null ? [] : [`${" ".repeat(gutter.length + at - from)}${paint.red("^")}`];
  return [head, `${paint.dim(gutter)}${shown}`, ...caret];
}
