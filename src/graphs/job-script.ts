import { shellWord } from "#core/shell-word.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";

/**
 * Returns the `/bin/sh` script that runs a job's commands.
 *
 * It prints each command before running it, stops at the first failure, and turns an exit code that the job counts as
 * success into 0, because the cache stores no other. Commands share the shell, so `cd` and `export` persist.
 */
export function jobScript(job: JobDefinition): string {
  const lines = ["set -eu", "exec 2>&1"];
  const accepted = job.success?.["exit-codes"];
  if (accepted !== undefined) lines.push(...judgeExitCode(accepted));
  const directory = job["working-directory"];
  if (directory !== undefined) lines.push(`cd ${shellWord(directory)}`);
  for (const command of job.commands ?? []) {
    lines.push(`printf '%s\\n' ${shellWord(shown(command))}`, command.trimEnd());
  }
  return `${lines.join("\n")}\n`;
}

/** The lines with which a command is shown in the log, before it runs. */
export function shownLines(command: string): string[] {
  return shown(command).split("\n");
}

function judgeExitCode(accepted: readonly number[]): string[] {
  const others = accepted.filter((code) => code !== 0);
  const branches = others.length === 0 ? [] : [`    ${others.join("|")}) exit 0 ;;`];
  const zero = accepted.includes(0)
    ? "    0) exit 0 ;;"
    : `    0) echo "exit code 0 is not one of those that count as success: ${accepted.join(", ")}"; exit 1 ;;`;
  return [
    "judge() {",
    '  case "$1" in',
    ...branches,
    zero,
    '    *) exit "$1" ;;',
    "  esac",
    "}",
    "trap 'judge $?' EXIT",
  ];
}

/** Puts `$ ` before the first line, and two spaces before the others. */
function shown(command: string): string {
  return `$ ${command.trimEnd().replaceAll("\n", "\n  ")}`;
}
