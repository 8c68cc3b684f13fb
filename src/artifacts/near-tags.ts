/** Returns at most four similar tags: the neighbours of the unknown one, in natural order (numbers as numbers). */
export function nearTags(wanted: string, tags: readonly string[]): string[] {
  const order = new Intl.Collator("en", { numeric: true }).compare;
  const begins = (tag: string) => commonStart(tag, wanted);
  const most = Math.max(0, ...tags.map(begins));
  // No tag is similar: the newest ones at least show the format.
  if (most === 0) return tags.slice(-3);
  const alike = tags.filter((tag) => begins(tag) === most || begins(tag) >= 4).toSorted(order);
  const after = alike.findIndex((tag) => order(tag, wanted) > 0);
  const middle = after === -1 ? alike.length : after;
  return alike.slice(Math.max(0, middle - 2), Math.max(0, middle - 2) + 4);
}

function commonStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
