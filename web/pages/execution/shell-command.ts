import type { ExecutionDetail } from "#api/execution.ts";

type Command = NonNullable<ExecutionDetail["command"]>;

/** Returns a word in shell notation, quoted if necessary. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Returns the command for pasting into a shell, in the input root: with its environment and directory. */
export function shellCommand({ arguments: words, environment, workingDirectory }: Command): string {
  const variables = Object.entries(environment).map(([name, value]) =>
    shellWord(`${name}=${value}`),
  );
  const command = ["env", "-i", ...variables, ...words.map(shellWord)].join(" ");
  return workingDirectory === "" ? command : `cd ${shellWord(workingDirectory)} && ${command}`;
}
