import type { ExecutionDetail } from "#api/execution.ts";

type Command = NonNullable<ExecutionDetail["command"]>;

/** A word as a shell reads it: quoted where it must be. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The command as it can be pasted into a shell, in the input root: with its environment and directory. */
export function shellCommand({ arguments: words, environment, workingDirectory }: Command): string {
  const variables = Object.entries(environment).map(([name, value]) =>
    shellWord(`${name}=${value}`),
  );
  const command = ["env", "-i", ...variables, ...words.map(shellWord)].join(" ");
  return workingDirectory === "" ? command : `cd ${shellWord(workingDirectory)} && ${command}`;
}
