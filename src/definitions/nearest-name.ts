/**
 * Returns the probably intended name: the nearest existing one, if one is near enough.
 *
 * Near enough means at most a third of the word: `comands` finds `commands`, `foo` finds nothing.
 */
export function nearestName(written: string, existing: Iterable<string>): string | undefined {
  const most = Math.max(1, Math.floor(written.length / 3));
  let nearest: string | undefined;
  let shortest = most + 1;
  for (const name of existing) {
    // The difference in length is a lower bound, so most of 20,000 names need no table.
    if (Math.abs(name.length - written.length) >= shortest) continue;
    const distance = editDistance(written.toLowerCase(), name.toLowerCase());
    if (distance < shortest) [nearest, shortest] = [name, distance];
  }
  return nearest;
}

/** `; did you mean "commands"?`, or nothing when no name is near. */
export function suggestion(written: string, existing: Iterable<string>): string {
  const nearest = nearestName(written, existing);
  return nearest === undefined ? "" : `; did you mean "${nearest}"?`;
}

/**
 * Returns the number of letters to insert, remove or replace, or of neighbours to swap (optimal string alignment).
 * Stores only three rows of the table.
 */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const exchanged =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
          ? (before[j - 2] ?? 0) + 1
          : Number.POSITIVE_INFINITY;
      next.push(Math.min(replaced, exchanged, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
