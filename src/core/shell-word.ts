/** Returns a word for a POSIX shell, always in quotes: some shells also interpret `~`, `!` and `{`. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The same for people: in quotes only when the shell would otherwise interpret it. */
export function readableShellWord(text: string): string {
  return /^[A-Za-z0-9._/@+:,-][A-Za-z0-9._/@+:,=-]*$/.test(text) ? text : shellWord(text);
}
