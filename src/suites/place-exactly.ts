import { type Placed, type Placement, tolerance } from "./placement.ts";

/** This many placements can be tried within some tens of milliseconds. */
const mostPlacements = 300_000;

/** Whether all placements can be tried. */
export function isSmall(items: readonly Placed[], count: number): boolean {
  return count ** items.length <= mostPlacements;
}

/**
 * Among all placements whose longest set is as short as possible within the tolerance, returns one with the fewest
 * moves; among these, one with the shortest longest set.
 */
export function placeExactly(
  items: readonly Placed[],
  count: number,
  before: Placement,
): Placement {
  const from = items.map(({ name }) => before.get(name) ?? 0);
  const sets = Array.from({ length: items.length }, () => 0);
  const lengths = Array.from({ length: count }, () => 0);
  const walk = (index: number, moves: number, done: (longest: number, moves: number) => void) => {
    const item = items[index];
    if (item === undefined) {
      done(Math.max(...lengths), moves);
      return;
    }
    for (let set = 0; set < count; set++) {
      const length = lengths[set] ?? 0;
      sets[index] = set;
      lengths[set] = length + item.seconds;
      walk(index + 1, moves + (set === from[index] ? 0 : 1), done);
      // The old length is restored and not computed by subtraction, which would accumulate rounding
      // errors.
      lengths[set] = length;
    }
  };

  let least = Number.POSITIVE_INFINITY;
  walk(0, 0, (longest) => {
    least = Math.min(least, longest);
  });
  let best: { longest: number; moves: number; sets: number[] } | undefined;
  walk(0, 0, (longest, moves) => {
    if (longest > least * (1 + tolerance)) return;
    if (
      best !== undefined &&
      (moves > best.moves || (moves === best.moves && longest >= best.longest))
    )
      return;
    best = { longest, moves, sets: [...sets] };
  });
  const placed = best?.sets ?? from;
  return new Map([
    ...before,
    ...items.map(({ name }, index) => [name, placed[index] ?? 0] as const),
  ]);
}
