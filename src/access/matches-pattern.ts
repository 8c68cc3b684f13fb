/**
 * Whether a name fits a pattern, in which `*` stands for any characters, `/` too, or for none.
 *
 * The pieces between the stars are looked for from left to right, each at its first place: an earlier place
 * never hides a later piece. So nothing is tried twice, whatever somebody writes as a pattern.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  const pieces = pattern.split("*");
  const first = pieces[0] ?? "";
  const last = pieces.at(-1) ?? "";
  if (pieces.length === 1) return pattern === name;
  if (name.length < first.length + last.length) return false;
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  const end = name.length - last.length;
  let from = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, from);
    if (found < 0 || found + piece.length > end) return false;
    from = found + piece.length;
  }
  return true;
}
