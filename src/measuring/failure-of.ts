import { Fault } from "#core/fault.ts";
import type { EndedProcess } from "./processes/run-bounded.ts";

const shownLines = 30;
const shownCharacters = 8_000;

/** Why a command counts as failed: how it ended, its last words, and what it was. */
export function failureOf(
  { exitCode, stdout, stderr }: Pick<EndedProcess, "exitCode" | "stdout" | "stderr">,
  command: readonly string[],
  before: string,
): Fault {
  const how =
    exitCode > 128 && exitCode < 193
      ? `ended by signal ${exitCode - 128}`
      : `exit code ${exitCode}`;
  // Compilers complain on stdout, runtimes on stderr: whichever is there.
  const said = [lastLines(stdout), lastLines(stderr)].filter((text) => text !== "").join("\n");
  const words = [
    `${before}${how}`,
    `command: ${command.join(" ").slice(0, 2_000)}`,
    said === "" ? "it printed nothing" : said,
  ];
  return new Fault("failed_precondition", words.join("\n"));
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-shownLines).join("\n").slice(-shownCharacters);
}
