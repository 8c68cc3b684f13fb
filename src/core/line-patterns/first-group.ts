import type { Program } from "./pattern-program.ts";
import { holds, neighbourOf } from "./surroundings.ts";
import { isAmong } from "./units.ts";

interface Thread {
  readonly at: number;
  /** Where the first group began and ended; -1 where it has not. */
  readonly from: number;
  readonly to: number;
}

/**
 * What the first group of a pattern holds in a line, or the whole match when there is none;
 * undefined when the line does not match, or the group took no part in it.
 *
 * All ways through the pattern are followed side by side (Pike's machine), the preferred ones first:
 * the answer is that of a backtracking engine, the cost at most the line's length times the pattern's.
 */
export function firstGroup({ steps, start, groups }: Program, line: string): string | undefined {
  let threads: Thread[] = [];
  let matched: Thread | undefined;
  const entered = new Int32Array(steps.length).fill(-1);

  for (let place = 0; place <= line.length; place++) {
    const before = place === 0 ? "edge" : neighbourOf(line.charCodeAt(place - 1));
    const after = place === line.length ? "edge" : neighbourOf(line.charCodeAt(place));
    const unit = place === line.length ? -1 : line.charCodeAt(place);
    const next: Thread[] = [];
    // A match that begins further to the left is preferred: later ones are not begun once there is one.
    const begun =
      matched === undefined ? [{ at: start, from: groups === 0 ? place : -1, to: -1 }] : [];

    // Depth first, in the order of preference.
    const stack = [...threads, ...begun].toReversed();
    for (let thread = stack.pop(); thread !== undefined; thread = stack.pop()) {
      const { at } = thread;
      if (entered[at] === place) continue;
      entered[at] = place;
      const step = steps[at];
      if (step === undefined) continue;
      switch (step.op) {
        case "take":
          if (unit >= 0 && isAmong(step.units, unit)) next.push({ ...thread, at: step.next });
          break;
        case "fork":
          stack.push({ ...thread, at: step.second }, { ...thread, at: step.first });
          break;
        case "assert":
          if (holds(step.what, before, after)) stack.push({ ...thread, at: step.next });
          break;
        case "mark":
          stack.push(
            step.end === 0
              ? { at: step.next, from: place, to: -1 }
              : { ...thread, at: step.next, to: place },
          );
          break;
        case "match":
          matched = groups === 0 ? { ...thread, to: place } : thread;
          // What is less preferred than this match no longer counts.
          stack.length = 0;
          break;
      }
    }
    threads = next;
    if (threads.length === 0 && matched !== undefined) break;
  }
  return matched === undefined || matched.from < 0 || matched.to < 0
    ? undefined
    : line.slice(matched.from, matched.to);
}
