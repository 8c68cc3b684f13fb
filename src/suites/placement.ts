/** A benchmark that must be placed in a set. */
export interface Placed {
  readonly name: string;
  readonly seconds: number;
}

/** The set of each benchmark. */
export type Placement = ReadonlyMap<string, number>;

/** Sets whose lengths differ by less than this share of the longest count as equal, because figures vary more. */
export const tolerance = 0.02;

/** Returns the length of each set. */
export function lengthsOf(items: readonly Placed[], count: number, placed: Placement): number[] {
  const lengths = Array.from({ length: count }, () => 0);
  for (const { name, seconds } of items) {
    const set = placed.get(name) ?? 0;
    lengths[set] = (lengths[set] ?? 0) + seconds;
  }
  return lengths;
}

/** Returns the total duration, when each set runs on its own machine. */
export function longest(items: readonly Placed[], count: number, placed: Placement): number {
  return Math.max(...lengthsOf(items, count, placed));
}
