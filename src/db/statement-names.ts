/**
 * Gives each statement text a name, so that a connection parses and plans it once.
 *
 * Texts come from `sql` tags in the source, so there are some hundreds of them; a
 * text that is put together at run time would grow the table on both sides
 * without end, hence the bound: past it, statements go unnamed.
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
