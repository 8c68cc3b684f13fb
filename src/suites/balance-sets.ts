import type { SetBalance } from "#api/benchmark-history.ts";
import { isSmall, placeExactly } from "./place-exactly.ts";
import { placeNearly } from "./place-nearly.ts";
import type { Placed } from "./placement.ts";
import type { Suite } from "./suite.ts";

interface Item extends Placed {
  readonly from: number;
}

/**
 * Distributes the benchmarks of the compile section over sets so that the longest set is nearly as short as possible,
 * and moves as few benchmarks as possible. Benchmarks without measurements stay in their set.
 *
 * `seconds`: the duration of each benchmark with all its cases. `sets`: the number of sets, numbered from 0; default:
 * as many as the suite has.
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
  // All benchmarks must leave a set that no longer exists.
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
