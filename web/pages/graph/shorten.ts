/** A name that fits: its middle goes first, for names differ at their ends. */
export function shorten(name: string, length: number): string {
  const chars = Array.from(name);
  if (chars.length <= length) return name;
  const head = Math.ceil((length - 1) / 2);
  return `${chars.slice(0, head).join("")}…${chars.slice(chars.length - (length - 1 - head)).join("")}`;
}
