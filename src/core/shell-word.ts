/** One word of a POSIX shell's, always in quotes: also `~`, `!` and `{` mean something to some shell. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The same for people: in quotes only where the shell would read something into it. */
export function readableShellWord(text: string): string {
  return /^[A-Za-z0-9._/@+:,-][A-Za-z0-9._/@+:,=-]*$/.test(text) ? text : shellWord(text);
}
