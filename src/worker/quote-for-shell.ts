/** Quotes a text as one word of a POSIX shell. */
export function quoteForShell(text: string): string {
  return /^[A-Za-z0-9_/.:=,+@%-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
