/** The highest number of compared names: enough for a hint, in limited time. */
const considered = 2_000;

/** Returns at most three names that may have been meant, the likeliest first. */
export function similarNames(wanted: string, names: readonly string[]): string[] {
  const lowered = wanted.toLowerCase().slice(0, 100);
  return names
    .slice(0, considered)
    .map((name) => ({ name, distance: distanceTo(lowered, name.toLowerCase().slice(0, 100)) }))
    .filter(({ distance }) => distance <= Math.max(2, lowered.length / 3))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** Levenshtein's distance; a name that contains the other has distance one. */
function distanceTo(a: string, b: string): number {
  if (a === b) return 0;
  if (a.length > 2 && b.includes(a)) return 1;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
