import type { KeyHistory } from "../key-history.ts";
import type { OfferedClass } from "../strategy.ts";
import { type ClassDigest, digestOf, type KeyDigest } from "./key-digest.ts";
import { type LogNormal, quantile, tail } from "./log-normal.ts";
import { onCpus, priorOfScalings, scalingsOfAction, scalingsOfMixture } from "./scaling.ts";
import { type Shortage, shortageOf } from "./shortage.ts";

/** Where nothing is known: 2 s on one CPU, and one in twenty takes over 25 s. */
const workOfAnything: LogNormal = { mu: Math.log(2_000), sigma: 1.5 };
/** "Most … use less than 100 MB of RAM, while a couple of outliers … multiple gigabytes" (the seed). */
const memoryOfAnything: LogNormal = { mu: Math.log(80e6), sigma: 1.5 };
/** What a mixture of actions says weighs against this many runs of what is above it. */
const weightAbove = 2;
/** Actions of one target differ at least by this much, as a variance of logarithms: e^±0.5. */
const leastBetween = 0.25;
/** Of actions that are not like they used to be: of these what is above says more. */
const unlikeItself = 0.01;
/** What a class itself showed of its speed counts against this much of a run of what scalings say. */
const weightOfScalings = 0.5;

export interface ClassEstimate {
  readonly offered: OfferedClass;
  readonly own: ClassDigest | undefined;
  /** Time there over time on one CPU. */
  readonly slowness: number;
  /** How long runs take there that come to their end. */
  readonly duration: LogNormal;
  readonly expectedMs: number;
  /** That a run needs more memory than there is. */
  readonly memoryRisk: number;
  /** That it fails or ends for its time, and would not on a greater class. */
  readonly slowRisk: number;
  readonly shortage: Shortage | undefined;
}

/** What is known of the next run of an action, on every class at once. */
export interface Estimate {
  /** Milliseconds on one CPU. */
  readonly work: LogNormal;
  readonly memory: LogNormal;
  /** How likely each of `scalings` is. */
  readonly scalings: Float64Array;
  /** Of the action itself; undefined before its first run. */
  readonly own: KeyDigest | undefined;
  /** Runs of its like, the nearest of them. */
  readonly likeRuns: number;
  readonly classes: readonly ClassEstimate[];
}

export function estimate(
  histories: readonly KeyHistory[],
  classes: readonly OfferedClass[],
  timeoutMs: number,
): Estimate {
  const cpusOf = (sizeClass: number) => cpusLike(classes, sizeClass);
  let work = workOfAnything;
  let memory = memoryOfAnything;
  let memoryAbove = memory;
  let likely = priorOfScalings;
  let own: KeyDigest | undefined;
  let likeRuns = 0;
  for (let i = histories.length - 1; i >= 0; i--) {
    const history = histories[i];
    if (history === undefined || history.runs.size === 0) continue;
    const digest = digestOf(history);
    if (digest.runs === 0) continue;
    if (history.level === "action") {
      own = digest;
      memoryAbove = memory;
      work = pulled(digest.work, digest.workWeight, work);
      memory = pulled(digest.memory, digest.memoryWeight, memory);
      likely = scalingsOfAction(likely, digest, cpusOf);
    } else {
      likeRuns = digest.runs;
      work = mixed(digest.work, digest.workWeight, work);
      memory = mixed(digest.memory, digest.memoryWeight, memory);
      memoryAbove = memory;
      likely = scalingsOfMixture(likely, digest, cpusOf);
    }
  }
  const shortages = classes.map((offered) => own && shortageOf(own, offered));
  return {
    work,
    memory,
    scalings: likely,
    own,
    likeRuns,
    classes: classes.map((offered, i) => {
      const ownOfClass = own?.classes.find((each) => each.sizeClass === offered.sizeClass);
      const slowness = slownessOn(offered, likely, ownOfClass);
      const duration = { mu: work.mu + Math.log(slowness), sigma: work.sigma };
      // A greater class with the same memory or less lacks what this one lacks.
      const shortage = shortages.find(
        (each, at) =>
          each !== undefined && (at >= i || offered.memoryBytes <= (classes[at]?.memoryBytes ?? 0)),
      );
      const isLast = i === classes.length - 1;
      return {
        offered,
        own: ownOfClass,
        slowness,
        duration,
        expectedMs: Math.max(1, expected(duration)),
        memoryRisk: shortage ? 1 : memoryRisk(memory, memoryAbove, offered.memoryBytes),
        slowRisk: isLast ? 0 : slowRisk(duration, timeoutMs, ownOfClass),
        shortage,
      };
    }),
  };
}

/** One action's own runs, pulled to what is above them the more, the fewer they are. */
function pulled(own: LogNormal, weight: number, above: LogNormal): LogNormal {
  if (weight === 0) return above;
  const within = own.sigma * own.sigma;
  const pull = within / Math.max(leastBetween, above.sigma * above.sigma);
  const mu = (weight * own.mu + pull * above.mu) / (weight + pull);
  return { mu, sigma: Math.sqrt(within * (1 + 1 / (weight + pull))) };
}

/** What the runs of many actions say of one more, pulled to what is above. */
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

/** Wide spreads have means that are made by what nobody has seen; two deviations are believed. */
const widestForMean = 1.2;

function expected({ mu, sigma }: LogNormal): number {
  const believed = Math.min(sigma, widestForMean);
  return Math.exp(mu + (believed * believed) / 2);
}

function slownessOn(
  offered: OfferedClass,
  likely: Float64Array,
  own: ClassDigest | undefined,
): number {
  const { slowness } = onCpus(offered.cpus);
  let mean = 0;
  for (let s = 0; s < slowness.length; s++) mean += (likely[s] ?? 0) * (slowness[s] ?? 1);
  if (own === undefined || own.speedUpWeight === 0 || offered.cpus <= 1) return mean;
  const { speedUpWeight: weight, logSpeedUp } = own;
  return Math.exp(
    (-weight * logSpeedUp + weightOfScalings * Math.log(mean)) / (weight + weightOfScalings),
  );
}

/** What is measured is not all that counts against a limit: page tables, what the measuring missed. */
const memoryMargin = 1.05;

function memoryRisk(memory: LogNormal, above: LogNormal, limit: number): number {
  const usable = limit / memoryMargin;
  return (1 - unlikeItself) * tail(memory, usable) + unlikeItself * tail(above, usable);
}

function slowRisk(duration: LogNormal, timeoutMs: number, own: ClassDigest | undefined): number {
  const beyond = tail(duration, timeoutMs);
  if (own === undefined || own.refuted < 0.05) return beyond;
  return Math.max(beyond, own.refuted / (own.refuted + Math.min(own.succeeded, 4) + 0.5));
}

/** Of a class that is not offered now, as far as its number tells. */
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
