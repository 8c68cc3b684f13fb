import { findErrorLines } from "./error-lines.ts";
import { shownLogLine } from "./shown-log-line.ts";

/** Lines of a log around its error. */
interface FailureExcerpt {
  readonly lines: { readonly text: string; readonly isError: boolean }[];
  /** Whether the log continues after the last of these lines. */
  readonly continues: boolean;
}

/** Lines before the error that say where it is. */
const linesBefore = 3;

/**
 * Returns the last lines of a log; or, where the first error is before those, the lines from shortly before it.
 *
 * @param end the end of the log; its first line may be cut
 */
export function failureExcerpt(end: string, most: number): FailureExcerpt {
  const lines = end.replace(/\n$/, "").split("\n").map(shownLogLine);
  if (lines.length === 1 && lines[0] === "") return { lines: [], continues: false };
  const errors = new Set(findErrorLines(lines));
  const [firstError = lines.length] = errors;
  const last = Math.max(0, lines.length - most);
  const from = firstError < last ? Math.max(0, firstError - linesBefore) : last;
  return {
    lines: lines
      .slice(from, from + most)
      .map((text, index) => ({ text, isError: errors.has(from + index) })),
    continues: from + most < lines.length,
  };
}
