import { benjaminiHochberg } from "./benjamini-hochberg.ts";
import { bootstrapInterval } from "./bootstrap.ts";
import { changePoints } from "./change-points.ts";
import { EnergyDistances } from "./energy-split.ts";
import {
  hodgesLehmannShift,
  pseudoMedian,
  resampledPseudoMedian,
  walshAverages,
} from "./hodges-lehmann.ts";
import { mannWhitney, mannWhitneyApproximate } from "./mann-whitney.ts";
import { quantileOfSorted, rustcQuartiles } from "./quartiles.ts";
import { studentTwoSided } from "./student-t.ts";

/** A computation for which both Grange and SciPy return a list of numbers. */
export type OracleCase =
  | {
      readonly f: "rank-test-exact" | "rank-test-approximate" | "shift";
      readonly a: number[];
      readonly b: number[];
    }
  | { readonly f: "quantile"; readonly values: number[]; readonly q: number }
  | { readonly f: "rustc-quartiles" | "pseudo-median" | "split"; readonly values: number[] }
  | { readonly f: "student"; readonly t: number; readonly degrees: number }
  | { readonly f: "adjusted"; readonly ps: number[] }
  | {
      readonly f: "bootstrap";
      readonly values: number[];
      readonly level: number;
      readonly seed: number;
      /** A row for each draw: how often each value was drawn. */
      readonly times: number[][];
    }
  | {
      readonly f: "change-points";
      readonly values: number[];
      readonly window: number;
      readonly p: number;
      readonly magnitude: number;
    };

/** Returns Grange's result. */
export function answerOf(question: OracleCase): number[] {
  switch (question.f) {
    case "rank-test-exact": {
      const { u, p } = mannWhitney(question.a, question.b);
      return [u, p];
    }
    case "rank-test-approximate": {
      const { u, p } = mannWhitneyApproximate(question.a, question.b);
      return [u, p];
    }
    case "shift":
      return [hodgesLehmannShift(question.a, question.b)];
    case "quantile":
      return [
        quantileOfSorted(
          question.values.toSorted((a, b) => a - b),
          question.q,
        ),
      ];
    case "rustc-quartiles": {
      const quartiles = rustcQuartiles(question.values.toSorted((a, b) => a - b));
      return quartiles === undefined ? [] : [quartiles.q1, quartiles.q3];
    }
    case "pseudo-median":
      return [pseudoMedian(walshAverages(question.values))];
    case "split": {
      const { index, q } = new EnergyDistances(question.values).best(0, question.values.length);
      return [index, q];
    }
    case "student":
      return [studentTwoSided(question.t, question.degrees)];
    case "adjusted":
      return benjaminiHochberg(question.ps);
    case "bootstrap": {
      const averages = walshAverages(question.values);
      const { low, high } = bootstrapInterval(
        question.values.length,
        resampledPseudoMedian(averages),
        { seed: question.seed, level: question.level, resamples: question.times.length },
      );
      return [low, high];
    }
    case "change-points":
      return changePoints(question.values, { ...question, leastSegment: 1 }).flatMap(
        ({ index, p, meanBefore, meanAfter }) => [index, p, meanBefore, meanAfter],
      );
  }
}

/** Returns the largest relative difference; infinite when the results have different lengths. */
export function differenceOf(ours: readonly number[], theirs: readonly number[]): number {
  if (ours.length !== theirs.length) return Number.POSITIVE_INFINITY;
  let largest = 0;
  ours.forEach((mine, i) => {
    const other = theirs[i] ?? Number.NaN;
    if (mine === other) return;
    // Below this, doubles lose digits in any computation.
    const apart = Math.abs(mine - other) / Math.max(Math.abs(other), 1e-290);
    largest = Number.isNaN(apart) ? Number.POSITIVE_INFINITY : Math.max(largest, apart);
  });
  return largest;
}
