/**
 * Gives each statement text a name, so that a connection parses and plans it once.
 *
 * Texts come from `sql` tags in the source, so there are some hundreds; texts that are composed at run time would grow
 * the table on both sides without limit. Above the limit, statements have no name.
 */
export function statementNames(most = 1_000): (text: string) => string | undefined {
  const names = new Map<string, string>();
  return (text) => {
    const known = names.get(text);
    if (known !== undefined) return known;
    if (names.size >= most) return undefined;
    const name = `s${names.size}`;
    names.set(text, name);
    return name;
  };
}
