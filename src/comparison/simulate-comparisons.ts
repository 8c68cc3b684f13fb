import { exponential, normal, type Random, seededRandom } from "#statistics/seeded-random.ts";
import { judgeNoisy } from "./judge-noisy.ts";
import { defaultRounds, judgePairs, type Pair, practicalLimit } from "./judge-pairs.ts";
import { isParentFirst } from "./order-of-pairs.ts";

/** Returns the figure of one process, where the artifact's true figure is 1. */
export type DrawProcess = (random: Random) => number;

/** A machine on which processes run one after the other; returns the figure of the next process. */
export type OpenMachine = (random: Random) => () => number;

/** A machine whose processes are independent of each other. */
export function independent(draw: DrawProcess): OpenMachine {
  return (random) => () => draw(random);
}

/**
 * The model for which the rules were chosen: lognormal, 1 % between processes, 0.5 % within, and in 5 of 100 runs a
 * delay with a mean of 10 %. `runs`: the number of runs of a process; the lowest counts.
 */
export function modelProcess(runs = 1): DrawProcess {
  return (random) => {
    const process = Math.exp(0.01 * normal(random));
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < runs; i++) {
      const delay = random() < 0.05 ? exponential(random, 0.1) : 0;
      least = Math.min(least, process * Math.exp(0.005 * normal(random)) * (1 + delay));
    }
    return least;
  };
}

interface SimulationOptions {
  readonly trials: number;
  /** True relative change, e.g. 0.02. */
  readonly shift: number;
  readonly open: OpenMachine;
  readonly seed: number | string;
  readonly limit?: number;
  readonly rounds?: readonly number[];
}

interface SimulatedComparisons {
  readonly trials: number;
  /** The greatest |effect| in 95 % of the trials; a self-test learns it. */
  readonly usualEffect: number;
  /** Shares of the trials in which the pairs claimed a change, and the rerun confirmed it. */
  readonly claimed: number;
  readonly confirmed: number;
  /** Confirmed with the wrong sign; for a shift of 0, every sign is wrong. */
  readonly wrongSide: number;
  readonly noChange: number;
  readonly undecided: number;
  /** The mean number of measured pairs, including the rerun's. */
  readonly pairs: number;
}

/**
 * Applies the rules for noisy metrics to artifacts whose true difference is known, round by round as a collector does.
 */
export function simulateComparisons(options: SimulationOptions): SimulatedComparisons {
  const {
    trials,
    shift,
    open,
    limit = practicalLimit(undefined),
    rounds = defaultRounds,
  } = options;
  const random = seededRandom(options.seed);
  let claimed = 0;
  let confirmed = 0;
  let wrongSide = 0;
  let noChange = 0;
  let undecided = 0;
  let pairs = 0;
  const effects: number[] = [];
  for (let trial = 0; trial < trials; trial++) {
    const rules = { limit, rounds, better: "lower" as const };
    const measure = (isRerun: boolean) => {
      const taken: Pair[] = [];
      const next = open(random);
      const seed = random();
      for (
        let more = rounds[0] ?? 1;
        more > 0;
        more = judgePairs(taken, { ...rules, isRerun }).more
      ) {
        for (let i = 0; i < more; i++) {
          const parentFirst = isParentFirst(seed, taken.length + 1);
          const [first, second] = [next(), next()];
          const [parent, child] = parentFirst ? [first, second] : [second, first];
          taken.push({ child: child * (1 + shift), parent, parentFirst });
        }
      }
      pairs += taken.length;
      return taken;
    };
    const paired = measure(false);
    const { verdict, effect } = judgePairs(paired, rules);
    effects.push(Math.abs(effect));
    const claims = verdict === "regressed" || verdict === "improved";
    const final = claims ? judgeNoisy(paired, measure(true), rules) : judgeNoisy(paired, [], rules);
    if (claims) claimed++;
    if (final.confirmed === true) {
      confirmed++;
      if (final.effect > 0 !== shift > 0) wrongSide++;
    } else if (final.verdict === "no-change") noChange++;
    else undecided++;
  }
  effects.sort((a, b) => a - b);
  return {
    trials,
    usualEffect: effects[Math.ceil(0.95 * trials) - 1] ?? 0,
    claimed: claimed / trials,
    confirmed: confirmed / trials,
    wrongSide: wrongSide / trials,
    noChange: noChange / trials,
    undecided: undecided / trials,
    pairs: pairs / trials,
  };
}
