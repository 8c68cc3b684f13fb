import type { ExecutionDetail } from "#api/execution.ts";
import { shellWord } from "#core/shell-word.ts";

/** Returns a script that runs the command by hand in the directory of inputs beside it, without a sandbox. */
export function runScript(command: NonNullable<ExecutionDetail["command"]>): string {
  const variables = Object.entries(command.environment).map(([name, value]) =>
    shellWord(`${name}=${value}`),
  );
  const directory =
    command.workingDirectory === "" ? "inputs" : `inputs/${command.workingDirectory}`;
  return [
    "#!/bin/sh",
    "# Runs the action without a sandbox: read it first.",
    `cd -- "$(dirname -- "$0")"/${shellWord(directory)} || exit`,
    `exec env -i ${[...variables, ...command.arguments.map(shellWord)].join(" ")}`,
    "",
  ].join("\n");
}
