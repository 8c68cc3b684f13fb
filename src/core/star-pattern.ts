/**
 * Returns whether a text matches a pattern in which stars stand for any characters, or for none.
 *
 * `parts` are the texts between the stars; one part is a pattern without a star. Each part is searched once, as far
 * left as possible: a match further right would leave less text for the rest. So no pattern needs backtracking.
 */
export function fitsStars(parts: readonly string[], text: string): boolean {
  const first = parts[0] ?? "";
  if (parts.length <= 1) return text === first;
  const last = parts.at(-1) ?? "";
  if (text.length < first.length + last.length) return false;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
