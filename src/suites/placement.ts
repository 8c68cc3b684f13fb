/** A benchmark that a set is wanted for. */
export interface Placed {
  readonly name: string;
  readonly seconds: number;
}

/** Which set each benchmark is in. */
export type Placement = ReadonlyMap<string, number>;

/** Sets that are less apart than this share of the longest take as long: figures vary more. */
export const tolerance = 0.02;

/** How long each set takes. */
export function lengthsOf(items: readonly Placed[], count: number, placed: Placement): number[] {
  const lengths = Array.from({ length: count }, () => 0);
  for (const { name, seconds } of items) {
    const set = placed.get(name) ?? 0;
    lengths[set] = (lengths[set] ?? 0) + seconds;
  }
  return lengths;
}

/** How long all of it takes, each set on a machine of its own. */
export function longest(items: readonly Placed[], count: number, placed: Placement): number {
  return Math.max(...lengthsOf(items, count, placed));
}
