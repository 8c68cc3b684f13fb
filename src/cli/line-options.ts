import type { Command } from "commander";
import type { ChosenLines } from "./log-lines.ts";
import { UsageError } from "./usage-error.ts";
import { numberFrom } from "./whole-number.ts";

/** Options of commands that print a log. */
export interface LineOptions {
  readonly search?: string;
  readonly from?: number;
  readonly lines?: number;
  readonly tail?: number;
}

const lineNumber = numberFrom(1, 999_999_999);

export function withLineOptions(command: Command): Command {
  return command
    .option(
      "--search <text>",
      "only lines that contain this text, with their numbers; upper and lower case are the same",
    )
    .option("--from <line>", "from a line on, counted from 1", lineNumber)
    .option("--lines <n>", "the largest number of lines", lineNumber)
    .option("--tail <n>", "the last lines", lineNumber);
}

/** Returns which lines the options name; undefined for all. Throws `UsageError` when they contradict each other. */
export function chosenLinesOf({ search, from, lines, tail }: LineOptions): ChosenLines | undefined {
  const isRange = from !== undefined || lines !== undefined;
  if ([search !== undefined, isRange, tail !== undefined].filter(Boolean).length > 1)
    throw new UsageError(
      "--search, --tail, and --from with --lines choose different lines: give one",
    );
  if (search !== undefined) return { kind: "search", text: search };
  if (tail !== undefined) return { kind: "tail", count: tail };
  return isRange ? { kind: "range", from: from ?? 1, count: lines } : undefined;
}
