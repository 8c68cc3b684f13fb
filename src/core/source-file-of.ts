const source =
  /\.(?:c|cc|cpp|cxx|c\+\+|m|mm|s|cu|rs|go|swift|ml|mli|hs|java|kt|scala|proto|ts|tsx|js|py)$/i;

/** Returns the source file of a compiler's command: the argument of `-c`, or the only one that names a source file. */
export function sourceFileOf(command: readonly string[]): string | undefined {
  const compiled = command[command.indexOf("-c") + 1];
  if (command.includes("-c") && compiled !== undefined && source.test(compiled)) return compiled;
  const named = command.slice(1).filter((each) => source.test(each) && !each.startsWith("-"));
  return named.length === 1 ? named[0] : undefined;
}
