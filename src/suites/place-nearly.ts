import { lengthsOf, longest, type Placed, type Placement, tolerance } from "./placement.ts";

/**
 * Returns a placement whose longest set is nearly as short as possible, when there are too many benchmarks to try all
 * placements.
 *
 * First it computes a bound: the result of placing all benchmarks again, the longest first (LPT: at most a third above
 * the optimum, Graham 1969, https://doi.org/10.1137/0117039). Then it makes single moves and exchanges from the present
 * placement, each time the most effective one, until the bound is nearly reached. If no step helps before that, the new
 * placement is used, with its sets numbered so that most benchmarks stay.
 */
export function placeNearly(items: readonly Placed[], count: number, before: Placement): Placement {
  const anew = placedAnew(items, count, before);
  const wanted = Math.min(longest(items, count, before), longest(items, count, anew));
  const improved = improvedFrom(items, count, before, wanted * (1 + tolerance));
  return longest(items, count, improved) <= wanted * (1 + tolerance)
    ? improved
    : new Map([...before, ...anew]);
}

/** Places the longest first, each in the shortest set; of equally short sets, in its present one. */
function placedAnew(items: readonly Placed[], count: number, before: Placement): Placement {
  const lengths = Array.from({ length: count }, () => 0);
  const placed = new Map<string, number>();
  for (const { name, seconds } of items.toSorted((a, b) => b.seconds - a.seconds)) {
    const shortest = Math.min(...lengths);
    const now = before.get(name) ?? 0;
    const set = lengths[now] === shortest ? now : lengths.indexOf(shortest);
    placed.set(name, set);
    lengths[set] = shortest + seconds;
  }
  return renumbered(items, count, placed, before);
}

/** Numbers the sets so that most seconds stay in their set: the largest overlap first. */
function renumbered(
  items: readonly Placed[],
  count: number,
  placed: Placement,
  before: Placement,
): Placement {
  const shares: { readonly to: number; readonly from: number; readonly stay: number }[] = [];
  for (let to = 0; to < count; to++)
    for (let from = 0; from < count; from++) {
      const stay = items.filter(
        ({ name }) => placed.get(name) === to && before.get(name) === from,
      ).length;
      shares.push({ to, from, stay });
    }
  const numberOf = new Map<number, number>();
  const taken = new Set<number>();
  for (const { to, from } of shares.toSorted((a, b) => b.stay - a.stay)) {
    if (numberOf.has(to) || taken.has(from)) continue;
    numberOf.set(to, from);
    taken.add(from);
  }
  return new Map([...placed].map(([name, set]) => [name, numberOf.get(set) ?? set]));
}

/** Moves and exchanges benchmarks out of the longest set, one at a time, until it is short enough or no step helps. */
function improvedFrom(
  items: readonly Placed[],
  count: number,
  before: Placement,
  enough: number,
): Placement {
  let now = new Map(before);
  // Each step reduces the sorted lengths; more steps than benchmarks would be worse than placing all again.
  for (let step = 0; step < items.length; step++) {
    const lengths = lengthsOf(items, count, now);
    const from = lengths.indexOf(Math.max(...lengths));
    if ((lengths[from] ?? 0) <= enough) break;
    const best = bestStep(items, lengths, now, from);
    if (best === undefined) break;
    now = new Map([...now, ...best]);
  }
  return now;
}

type Step = readonly (readonly [string, number])[];

function bestStep(
  items: readonly Placed[],
  lengths: readonly number[],
  now: Placement,
  from: number,
): Step | undefined {
  const long = lengths[from] ?? 0;
  let best: Step | undefined;
  let least = long;
  const consider = (step: Step, to: number, shift: number) => {
    const length = Math.max(long - shift, (lengths[to] ?? 0) + shift);
    // An exchange moves two benchmarks: its gain must be larger than the variation of the figures.
    if (length >= least * (step.length === 1 ? 1 : 1 - tolerance)) return;
    [best, least] = [step, length];
  };
  const here = items.filter(({ name }) => now.get(name) === from);
  for (let to = 0; to < lengths.length; to++) {
    if (to === from) continue;
    for (const { name, seconds } of here) consider([[name, to]], to, seconds);
  }
  for (let to = 0; to < lengths.length; to++) {
    if (to === from) continue;
    const there = items.filter(({ name }) => now.get(name) === to);
    for (const mine of here)
      for (const other of there)
        if (mine.seconds > other.seconds)
          consider(
            [
              [mine.name, to],
              [other.name, from],
            ],
            to,
            mine.seconds - other.seconds,
          );
  }
  return best;
}
