import { practicalLimit } from "#comparison/judge-pairs.ts";
import { simulateComparisons } from "#comparison/simulate-comparisons.ts";
import { seededRandom } from "#statistics/seeded-random.ts";
import { atLeast, atMost, type Measurement, type Row } from "../../row.ts";
import { type NoiseModel, noiseModels } from "./noise-models.ts";

/** The maximum share of comparisons of equal artifacts that are reported as changes, in %. */
const mostFalse = 0.1;
/** The minimum share of found changes that are twice as large as the noise, in %. */
const leastPower = 90;

interface Trials {
  readonly equal: number;
  readonly changed: number;
}

/** With fewer trials, one in a thousand is less than one; only the long form can measure it. */
export const noiseQuick = noise("24 noise models, quick", false, { equal: 400, changed: 100 });
export const noiseLong = noise("24 noise models, 3,000 comparisons each", true, {
  equal: 3_000,
  changed: 200,
});

function noise(title: string, long: boolean, trials: Trials): Measurement {
  return {
    title,
    long,
    measure: async () => noiseModels.flatMap((model) => rowsOf(model, trials)),
  };
}

function rowsOf({ name, open }: NoiseModel, { equal, changed }: Trials): Row[] {
  const ofEqual = { trials: equal, shift: 0, open };
  const usual = simulateComparisons({ ...ofEqual, seed: `${name}, equal` });
  // The result of self-tests, from comparisons that are not judged here.
  const taught = simulateComparisons({ ...ofEqual, trials: 200, seed: `${name}, self-tests` });
  const limit = practicalLimit(taught.usualEffect);
  const learned = simulateComparisons({ ...ofEqual, limit, seed: `${name}, equal, learned` });
  const shift = 2 * spreadOf({ name, open });
  const ofChanged = { trials: changed, shift, open };
  const found = simulateComparisons({ ...ofChanged, seed: `${name}, changed` });
  const foundLearned = simulateComparisons({
    ...ofChanged,
    limit,
    seed: `${name}, changed, learned`,
  });
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  return [
    atMost(
      `${name}: false alarms`,
      100 * Math.max(usual.confirmed, learned.confirmed),
      mostFalse,
      "%",
      `${equal} comparisons of equal artifacts with the limit of 1 %, and as many with that of self-tests (${percent(limit)}); before the rerun ${percent(usual.claimed)}`,
    ),
    atLeast(
      `${name}: found of changes of twice the noise`,
      100 *
        Math.min(
          found.confirmed - found.wrongSide,
          foundLearned.confirmed - foundLearned.wrongSide,
        ),
      leastPower,
      "%",
      `${changed} changes of ${percent(shift)}, which is twice the standard deviation of processes; limit 1 % ${percent(found.confirmed)}, learned ${percent(foundLearned.confirmed)}; ${found.pairs.toFixed(0)} pairs in the mean`,
    ),
  ];
}

/**
 * Returns the standard deviation of a long sequence of processes, on many machines; the outermost two in a thousand are
 * left out, because heavy tails have none.
 */
function spreadOf({ name, open }: NoiseModel): number {
  const random = seededRandom(`${name}, spread`);
  const figures = Array.from({ length: 100 }, () => {
    const next = open(random);
    return Array.from({ length: 40 }, next);
  })
    .flat()
    .toSorted((a, b) => a - b);
  const inner = figures.slice(figures.length * 0.001, figures.length * 0.999);
  const mean = inner.reduce((sum, value) => sum + value, 0) / inner.length;
  return (
    Math.sqrt(inner.reduce((sum, value) => sum + (value - mean) ** 2, 0) / inner.length) / mean
  );
}
