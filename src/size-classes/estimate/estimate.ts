import type { KeyHistory } from "../key-history.ts";
import type { OfferedClass } from "../strategy.ts";
import type { ActionRegimes, SpeedUp } from "./action-regimes.ts";
import { type ClassDigest, digestOf, type KeyDigest } from "./key-digest.ts";
import { type LogNormal, quantile, tail } from "./log-normal.ts";
import { nearLimit } from "./near-limit.ts";
import { combinedRegime } from "./regimes.ts";
import { onCpus, priorOfScalings, scalingsOfAction, scalingsOfMixture } from "./scaling.ts";

/** When nothing is known: 2 s on one CPU, and one in twenty takes over 25 s. */
const workOfAnything: LogNormal = { mu: Math.log(2_000), sigma: 1.5 };
/** "Most … use less than 100 MB of RAM, while a couple of outliers … multiple gigabytes" (the original design). */
const memoryOfAnything: LogNormal = { mu: Math.log(80e6), sigma: 1.5 };
/** A mixture of actions counts against this many runs of the level above. */
const weightAbove = 2;
/** Actions of one target differ at least by this much, as a variance of logarithms: e^±0.5. */
const leastBetween = 0.25;
/** The probability that an action differs from its earlier runs; the level above then has more weight. */
const unlikeItself = 0.01;
/** The class's own speed has the weight of this many runs against the estimate from scalings. */
const weightOfScalings = 0.5;

export interface ClassEstimate {
  readonly offered: OfferedClass;
  readonly own: ClassDigest | undefined;
  /** The time there divided by the time on one CPU. */
  readonly slowness: number;
  /** The duration of successful runs there. */
  readonly duration: LogNormal;
  readonly expectedMs: number;
  /** The probability that a run needs more memory than the class has. */
  readonly memoryRisk: number;
  /** The probability that it fails or times out here, and would not on a larger class. */
  readonly slowRisk: number;
}

/** The estimate of the next run of an action, on every class. */
export interface Estimate {
  /** Milliseconds on one CPU. */
  readonly work: LogNormal;
  /** Bytes: the regimes of the action's own runs, otherwise one. */
  readonly memory: readonly Part[];
  /** The probability of each of `scalings`. */
  readonly scalings: Float64Array;
  /** The possible regimes of the next run: those of its own runs, otherwise one. */
  readonly parts: readonly WorkPart[];
  /** The digest of the action itself; undefined before its first run. */
  readonly own: OwnDigest | undefined;
  /** The number of runs of the most similar key. */
  readonly likeRuns: number;
  readonly classes: readonly ClassEstimate[];
}

/** The digest of the action's own runs. */
export type OwnDigest = KeyDigest & { readonly teaches: { readonly kind: "of-one-action" } };

/** A distribution, and the probability that the next run belongs to it. */
interface Part {
  readonly share: number;
  readonly spread: LogNormal;
}

/** One possibility for the next run: an amount of work with a scaling. */
interface WorkPart extends Part {
  readonly expectedMs: number;
  readonly scalings: Float64Array;
  readonly speedUps: readonly SpeedUp[];
}

export function estimate(
  histories: readonly KeyHistory[],
  classes: readonly OfferedClass[],
  timeoutMs: number,
): Estimate {
  const cpusOf = (sizeClass: number) => cpusLike(classes, sizeClass);
  let work = workOfAnything;
  let memory = memoryOfAnything;
  let likely = priorOfScalings;
  let own: OwnDigest | undefined;
  let likeRuns = 0;
  for (let i = histories.length - 1; i >= 0; i--) {
    const history = histories[i];
    if (history === undefined || history.runs.size === 0) continue;
    const digest = digestOf(history);
    const { teaches } = digest;
    if (digest.runs === 0) continue;
    if (isOfOneAction(digest)) own = digest;
    else if (teaches.kind === "of-many-actions") {
      likeRuns = digest.runs;
      work = mixed(teaches.work, teaches.workWeight, work);
      memory = mixed(teaches.memory, teaches.memoryWeight, memory);
      likely = scalingsOfMixture(likely, digest, cpusOf);
    }
  }
  const parts = workParts(own?.teaches, work, likely, cpusOf);
  const needs = memoryParts(own?.teaches, memory);
  const expectedWorkMs = parts.reduce((sum, part) => sum + part.share * part.expectedMs, 0);
  return {
    work: combinedRegime(parts),
    memory: needs,
    parts,
    scalings: scalingsTogether(parts, expectedWorkMs),
    own,
    likeRuns,
    classes: classes.map((offered, i) => {
      const ownOfClass = own?.classes.find((each) => each.sizeClass === offered.sizeClass);
      const slownesses = parts.map(({ scalings, speedUps }) =>
        slownessOn(offered, scalings, speedUps),
      );
      const durations = parts.map(({ share, spread }, p) => ({
        share,
        spread: { mu: spread.mu + Math.log(slownesses[p] ?? 1), sigma: spread.sigma },
      }));
      const expectedMs = parts.reduce(
        (sum, part, p) => sum + part.share * part.expectedMs * (slownesses[p] ?? 1),
        0,
      );
      const isLast = i === classes.length - 1;
      return {
        offered,
        own: ownOfClass,
        slowness: expectedMs / expectedWorkMs,
        duration: combinedRegime(durations),
        expectedMs: Math.max(1, expectedMs),
        memoryRisk: Math.max(
          memoryRisk(needs, memory, offered.memoryBytes),
          unmeasuredRisk(own, classes, i),
        ),
        slowRisk: isLast ? 0 : slowRisk(durations, timeoutMs, ownOfClass),
      };
    }),
  };
}

function isOfOneAction(digest: KeyDigest): digest is OwnDigest {
  return digest.teaches.kind === "of-one-action";
}

/**
 * The weight of the action's other regimes for a regime whose scaling was not observed; the rest is from the level
 * above. Half, because nothing supports a larger value: with 0.85, alternating regimes cost 4 % more, and nothing cost
 * less.
 */
const fromOtherRegimes = 0.5;

function workParts(
  own: ActionRegimes | undefined,
  above: LogNormal,
  likely: Float64Array,
  cpusOf: (sizeClass: number) => number,
): WorkPart[] {
  if (own === undefined || own.work.length === 0)
    return [
      { share: 1, spread: above, expectedMs: expected(above), scalings: likely, speedUps: [] },
    ];
  const ofAction = scalingsOfAction(likely, own.speedUps, cpusOf);
  const prior =
    ofAction === likely
      ? likely
      : likely.map(
          (each, s) => (1 - fromOtherRegimes) * each + fromOtherRegimes * (ofAction[s] ?? 0),
        );
  return own.work.map(({ share, weight, work, speedUps }) => {
    const spread = pulled(work, weight, above);
    const scalings = own.work.length === 1 ? ofAction : scalingsOfAction(prior, speedUps, cpusOf);
    return { share, spread, expectedMs: expected(spread), scalings, speedUps };
  });
}

/** Weighted by the work that scales in this way. */
function scalingsTogether(parts: readonly WorkPart[], expectedWorkMs: number): Float64Array {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first.scalings;
  const sum = new Float64Array(priorOfScalings.length);
  for (const { share, expectedMs, scalings } of parts)
    for (let s = 0; s < sum.length; s++)
      sum[s] = (sum[s] ?? 0) + ((share * expectedMs) / expectedWorkMs) * (scalings[s] ?? 0);
  return sum;
}

function memoryParts(own: ActionRegimes | undefined, above: LogNormal): Part[] {
  if (own === undefined || own.memory.length === 0) return [{ share: 1, spread: above }];
  return own.memory.map(({ share, weight, spread }) => ({
    share,
    spread: pulled(spread, weight, above),
  }));
}

/**
 * Returns the own runs of one action, combined with the level above; the fewer runs, the more weight the level above
 * has.
 */
function pulled(own: LogNormal, weight: number, above: LogNormal): LogNormal {
  if (weight === 0) return above;
  const within = own.sigma * own.sigma;
  const pull = within / Math.max(leastBetween, above.sigma * above.sigma);
  const mu = (weight * own.mu + pull * above.mu) / (weight + pull);
  return { mu, sigma: Math.sqrt(within * (1 + 1 / (weight + pull))) };
}

/** Returns the runs of many actions as an estimate for another one, combined with the level above. */
function mixed(own: LogNormal, weight: number, above: LogNormal): LogNormal {
  if (weight === 0) return above;
  const all = weight + weightAbove;
  const share = weightAbove / all;
  const mu = (1 - share) * own.mu + share * above.mu;
  const off = above.mu - own.mu;
  const variance =
    (1 - share) * own.sigma ** 2 + share * above.sigma ** 2 + share * (1 - share) * off * off;
  return { mu, sigma: Math.sqrt(variance) };
}

/** The mean of a wide spread depends on values that were never observed; the spread is limited to this for the mean. */
const widestForMean = 1.2;

function expected({ mu, sigma }: LogNormal): number {
  const boundedSigma = Math.min(sigma, widestForMean);
  return Math.exp(mu + (boundedSigma * boundedSigma) / 2);
}

function slownessOn(
  offered: OfferedClass,
  likely: Float64Array,
  speedUps: readonly SpeedUp[],
): number {
  const { slowness } = onCpus(offered.cpus);
  let mean = 0;
  for (let s = 0; s < slowness.length; s++) mean += (likely[s] ?? 0) * (slowness[s] ?? 1);
  const seen = speedUps.find((each) => each.sizeClass === offered.sizeClass);
  if (seen === undefined || seen.weight === 0 || offered.cpus <= 1) return mean;
  return Math.exp(
    (-seen.weight * seen.log + weightOfScalings * Math.log(mean)) /
      (seen.weight + weightOfScalings),
  );
}

/** The measured memory is not all that counts against a limit: page tables and short peaks are missing. */
const memoryMargin = 1.05;

function memoryRisk(needs: readonly Part[], above: LogNormal, limit: number): number {
  return (
    (1 - unlikeItself) * moreThan(needs, limit) + unlikeItself * tail(above, limit / memoryMargin)
  );
}

/**
 * Returns the share of runs that ran out of memory there although so much memory was never measured: memory that is
 * allocated at once fails before it is measured, and some workers do not measure it.
 */
function unmeasuredRisk(
  own: OwnDigest | undefined,
  classes: readonly OfferedClass[],
  place: number,
): number {
  if (own === undefined || own.teaches.shortages.length === 0) return 0;
  const { sizeClass: here = 0, memoryBytes = 0 } = classes[place] ?? {};
  const isShortHere = (offered: OfferedClass | undefined, sizeClass: number) =>
    // A larger class with the same memory or less has the same shortage.
    sizeClass >= here || (offered !== undefined && memoryBytes <= offered.memoryBytes);
  const short = own.teaches.shortages.filter(({ sizeClass, peakBytes }) => {
    const on = classes.find((each) => each.sizeClass === sizeClass);
    const isSeen = on !== undefined && peakBytes >= nearLimit * on.memoryBytes;
    return !isSeen && isShortHere(on, sizeClass);
  }).length;
  if (short === 0) return 0;
  const enough = own.classes.reduce(
    (sum, { sizeClass, succeeded }) => sum + (sizeClass <= here ? succeeded : 0),
    0,
  );
  return (short + 1) / (short + enough + 1);
}

/** Returns the probability that the next run needs more memory than this. */
export function moreThan(needs: readonly Part[], limit: number): number {
  let risk = 0;
  for (const { share, spread } of needs) risk += share * tail(spread, limit / memoryMargin);
  // The sum of the shares may exceed 1 by rounding.
  return Math.min(1, risk);
}

function slowRisk(
  durations: readonly Part[],
  timeoutMs: number,
  own: ClassDigest | undefined,
): number {
  let beyond = 0;
  for (const { share, spread } of durations) beyond += share * tail(spread, timeoutMs);
  beyond = Math.min(1, beyond);
  if (own === undefined || own.refuted < 0.05) return beyond;
  return Math.max(beyond, own.refuted / (own.refuted + Math.min(own.succeeded, 4) + 0.5));
}

/** Returns the CPUs of a class that is not offered now, estimated from its number. */
function cpusLike(classes: readonly OfferedClass[], sizeClass: number): number {
  let like = classes[0];
  for (const each of classes) {
    if (each.sizeClass === sizeClass) return each.cpus;
    if (each.sizeClass < sizeClass) like = each;
  }
  return like ? (like.cpus * sizeClass) / like.sizeClass : sizeClass;
}

export function bandOf(duration: LogNormal): [number, number] {
  return [quantile(duration, -1.2816), quantile(duration, 1.2816)];
}
