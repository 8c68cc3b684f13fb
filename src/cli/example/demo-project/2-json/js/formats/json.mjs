/** For other programs: a list of objects. */
export function asJson(title, entries) {
  return `${JSON.stringify({ title, words: entries }, undefined, 2)}\n`;
}
