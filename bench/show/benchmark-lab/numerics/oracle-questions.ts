import { drawnTimes } from "#statistics/bootstrap.ts";
import type { OracleCase } from "#statistics/oracle-cases.fixture.ts";
import {
  exponential,
  normal,
  type Random,
  seededRandom,
  wholeBelow,
} from "#statistics/seeded-random.ts";

/** The number of cases of each kind. */
type QuestionCounts = Readonly<Record<OracleCase["f"], number>>;

export const manyQuestions: QuestionCounts = {
  "rank-test-exact": 2_500,
  "rank-test-approximate": 1_500,
  shift: 700,
  quantile: 1_500,
  "rustc-quartiles": 700,
  "pseudo-median": 700,
  split: 400,
  student: 2_000,
  adjusted: 700,
  bootstrap: 100,
  "change-points": 250,
};

/** The number of committed cases. */
export const fewQuestions: QuestionCounts = {
  "rank-test-exact": 60,
  "rank-test-approximate": 30,
  shift: 20,
  quantile: 30,
  "rustc-quartiles": 20,
  "pseudo-median": 20,
  split: 15,
  student: 60,
  adjusted: 20,
  bootstrap: 4,
  "change-points": 15,
};

export function oracleQuestions(counts: QuestionCounts, seed: number): OracleCase[] {
  const random = seededRandom(seed);
  const of = <F extends OracleCase["f"]>(f: F, make: () => OracleCase) =>
    Array.from({ length: counts[f] }, make);
  return [
    ...of("rank-test-exact", () => ({ f: "rank-test-exact", ...twoSamples(random, 24) })),
    ...of("rank-test-approximate", () => ({
      f: "rank-test-approximate",
      ...unlike(() => twoSamples(random, 90)),
    })),
    ...of("shift", () => ({ f: "shift", ...twoSamples(random, 20) })),
    ...of("quantile", () => ({
      f: "quantile",
      values: figures(random, 1 + wholeBelow(random, 60)),
      q: random(),
    })),
    ...of("rustc-quartiles", () => ({
      f: "rustc-quartiles",
      values: figures(random, 4 + wholeBelow(random, 40)),
    })),
    ...of("pseudo-median", () => ({
      f: "pseudo-median",
      values: figures(random, 1 + wholeBelow(random, 40)),
    })),
    ...of("split", () => ({ f: "split", values: steps(random, 3 + wholeBelow(random, 15)) })),
    ...of("student", () => ({
      f: "student",
      t: 10 ** (6 * random() - 4),
      degrees: 1 + Math.floor(exponential(random, 60)),
    })),
    ...of("adjusted", () => ({
      f: "adjusted",
      ps: Array.from({ length: 1 + wholeBelow(random, 40) }, () =>
        random() < 0.1 ? 0.5 : random() ** (1 + 20 * random()),
      ),
    })),
    ...of("bootstrap", () => {
      const values = figures(random, 4 + wholeBelow(random, 17));
      const seed = wholeBelow(random, 1_000);
      const resamples = 100;
      const flat = drawnTimes(values.length, resamples, seed);
      const times = Array.from({ length: resamples }, (_, r) =>
        Array.from(flat.subarray(r * values.length, (r + 1) * values.length)),
      );
      return { f: "bootstrap", values, level: 0.99, seed, times };
    }),
    ...of("change-points", () => ({
      f: "change-points",
      values: steps(random, 20 + wholeBelow(random, 60)),
      window: 10 + 2 * wholeBelow(random, 10),
      p: random() < 0.5 ? 0.001 : 0.01,
      magnitude: random() < 0.5 ? 0 : 0.05,
    })),
  ];
}

/** Positive, like measurements; of any magnitude, sometimes with many ties. */
function figures(random: Random, count: number): number[] {
  const scale = 10 ** (random() < 0.7 ? 6 * random() - 3 : 240 * random() - 120);
  const grain = random() < 0.4 ? 2 + wholeBelow(random, 8) : 0;
  return Array.from({ length: count }, () => {
    const figure = Math.exp(normal(random));
    return (grain > 0 ? Math.ceil(figure * grain) : figure) * scale;
  });
}

function twoSamples(random: Random, most: number): { a: number[]; b: number[] } {
  const sizes = [1 + wholeBelow(random, most), 1 + wholeBelow(random, most)] as const;
  const all = figures(random, sizes[0] + sizes[1]);
  const shift = random() < 0.5 ? 1 : 1 + random();
  return { a: all.slice(0, sizes[0]).map((x) => x * shift), b: all.slice(sizes[0]) };
}

/** SciPy's approximation does not handle samples without any difference. */
function unlike(make: () => { a: number[]; b: number[] }): { a: number[]; b: number[] } {
  for (;;) {
    const made = make();
    if (new Set([...made.a, ...made.b]).size > 1) return made;
  }
}

/** A series that stays at a level for some time; sometimes of integers, so that halves tie. */
function steps(random: Random, count: number): number[] {
  let level = 100;
  const spread = random() < 0.2 ? 0 : 3 * random();
  const whole = random() < 0.3;
  return Array.from({ length: count }, () => {
    if (random() < 0.06) level *= 1 + 0.3 * normal(random);
    const value = level + spread * normal(random);
    return whole ? Math.round(value) : value;
  });
}
