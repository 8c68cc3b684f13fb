import type { SizeClassSettings } from "../settings.ts";
import type { Situation } from "../strategy.ts";
import { greatestOf } from "./class-at.ts";
import { medianOfSorted, successesMs } from "./median.ts";
import { transitions } from "./pagerank-comparison.ts";
import { type Limits, limitsOf, normalised, type Outcomes } from "./pagerank-outcomes.ts";
import { powerIteration, startOf } from "./power-iteration.ts";

/** Buildbarn's plan for a key's outcomes, before anything is drawn. */
export type Plan =
  /** No run has succeeded on the largest class, and a smaller one has no outcome: it is tried for a short time. */
  | { readonly kind: "first-look"; readonly place: number; readonly timeoutMs: number }
  /** The largest class was not tried, but all smaller ones were. */
  | { readonly kind: "largest-untried" }
  /**
   * All smaller ones fail, and this one is unknown: the execution runs on the largest class, then on this one in the
   * background.
   */
  | { readonly kind: "probe"; readonly place: number; readonly limits: Limits }
  | Ranked;

export interface Ranked {
  readonly kind: "ranked";
  /** The probabilities of all classes. */
  readonly probabilities: readonly number[];
  readonly steps: number;
  readonly medianOnLargestMs: number;
  readonly largest: Outcomes;
  /** All classes except the largest. */
  readonly smaller: readonly RankedClass[];
}

export interface RankedClass {
  readonly outcomes: Outcomes;
  readonly limits: Limits;
  /** Whether the largest class runs it first, because it probably fails here. */
  readonly isBackground: boolean;
}

export function planOf(situation: Situation, settings: SizeClassSettings): Plan {
  const history = situation.histories[0];
  const largest = greatestOf(situation).sizeClass;
  const onLargest: Outcomes = {
    successesMs: successesMs(history?.runs.get(largest)),
    failures: 0,
  };
  const median = medianOfSorted(onLargest.successesMs);
  if (median === undefined) return withoutBaseline(situation, settings);

  const smaller: RankedClass[] = [];
  let isBackground = true;
  for (let place = 0; place < situation.classes.length - 1; place++) {
    const sizeClass = situation.classes[place]?.sizeClass ?? largest;
    const limits = limitsOf(sizeClass, largest, median, situation.timeoutMs, settings);
    const outcomes = normalised(history?.runs.get(sizeClass), limits);
    if (outcomes.failures + outcomes.successesMs.length > 0) {
      isBackground = outcomes.failures > outcomes.successesMs.length;
    } else if (isBackground) {
      return { kind: "probe", place, limits };
    }
    smaller.push({ outcomes, limits, isBackground });
  }
  const { probabilities, steps } = powerIteration(
    transitions([...smaller.map(({ outcomes }) => outcomes), onLargest]),
    startOf(
      situation.classes.map(({ sizeClass }) => sizeClass),
      history?.pageRank,
    ),
    settings.convergenceError,
  );
  return {
    kind: "ranked",
    probabilities,
    steps,
    medianOnLargestMs: median,
    largest: onLargest,
    smaller,
  };
}

function withoutBaseline(situation: Situation, settings: SizeClassSettings): Plan {
  const runs = situation.histories[0]?.runs;
  const place = situation.classes
    .slice(0, -1)
    .findIndex(({ sizeClass }) => (runs?.get(sizeClass)?.length ?? 0) === 0);
  return place < 0
    ? { kind: "largest-untried" }
    : {
        kind: "first-look",
        place,
        timeoutMs: Math.min(situation.timeoutMs, settings.minimumAcceptableMs),
      };
}
