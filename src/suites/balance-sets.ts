import type { SetBalance } from "#api/benchmark-history.ts";
import { isSmall, placeExactly } from "./place-exactly.ts";
import { placeNearly } from "./place-nearly.ts";
import type { Placed } from "./placement.ts";
import type { Suite } from "./suite.ts";

interface Item extends Placed {
  readonly from: number;
}

/**
 * Spreads the benchmarks of the compile section over sets so that the longest set is nearly as short as possible, by
 * moving as few as possible. Benchmarks that were never measured stay where they are.
 *
 * `seconds`: how long each takes, all its cases together. `sets`: how many, from 0 on; default: as many as the suite
 * has.
 */
export function balanceSets(
  suite: Suite,
  target: string,
  seconds: ReadonlyMap<string, number>,
  sets?: number,
): SetBalance {
  const items = Object.entries(suite.compile?.benchmarks ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { set }]): Item => ({ name, seconds: known(seconds.get(name)), from: set }));
  const highest = Math.max(0, ...items.map(({ from }) => from));
  const count = Math.max(1, sets ?? highest + 1);
  // A set that is no more has to be left, whatever is in it.
  const before = new Map(items.map(({ name, from }) => [name, Math.min(from, count - 1)]));
  const measured = items.filter((item) => item.seconds > 0);
  const after = (isSmall(measured, count) ? placeExactly : placeNearly)(measured, count, before);
  return {
    suite: suite.suite,
    target,
    sets: Array.from({ length: Math.max(count, highest + 1) }, (_, set) => {
      const inside = items.filter(({ name }) => after.get(name) === set);
      return {
        set,
        benchmarks: inside.map(({ name }) => name),
        secondsBefore: sum(items.filter(({ from }) => from === set)),
        secondsAfter: sum(inside),
      };
    }),
    moves: items.flatMap(({ name, from }) => {
      const to = after.get(name) ?? from;
      return to === from ? [] : [{ benchmark: name, from, to }];
    }),
    unknown: items.filter((item) => item.seconds === 0).map(({ name }) => name),
  };
}

function known(seconds: number | undefined): number {
  return seconds !== undefined && Number.isFinite(seconds) && seconds > 0 ? seconds : 0;
}

function sum(items: readonly Placed[]): number {
  return items.reduce((total, item) => total + item.seconds, 0);
}
