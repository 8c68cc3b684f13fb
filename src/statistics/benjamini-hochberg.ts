/**
 * Returns adjusted p-values: among all that are below a limit, at most that share is expected to be false. The order is
 * that of the input.
 */
export function benjaminiHochberg(ps: readonly number[]): number[] {
  const order = ps.map((_, i) => i).toSorted((i, j) => (ps[j] ?? 1) - (ps[i] ?? 1));
  const adjusted = ps.map(() => 1);
  let least = 1;
  order.forEach((index, fromTop) => {
    const rank = ps.length - fromTop;
    least = Math.min(least, (ps[index] ?? 1) * (ps.length / rank));
    adjusted[index] = least;
  });
  return adjusted;
}
