import type { LogNormal } from "./log-normal.ts";
import { defaultSigma } from "./usual-spread.ts";

/**
 * Values that differ by more than a factor of two belong to different regimes: three deviations of the usual variation.
 */
const gap = Math.log(2);
/** The widest gaps are used; with more regimes than this, each has too few values. */
const mostRegimes = 6;
/**
 * The weight of a value relative to the next one, for how often a regime occurs: the last twenty have the most weight.
 * From 0.95 to 0.98, and with `usualTransitions` from 1 to 3, ten kinds of traces cost the same within 0.2 %.
 */
const memory = 0.95;
/** The weight of the usual value, in transitions. */
const usualTransitions = 1;
/** Values below this weight are left out: after about 75 values. */
const leastFactor = 0.02;
/**
 * Like `memory`, within a regime: the last five determine most of its position. With 0.95, heavy tails cost 1.6 % more.
 */
const memoryWithin = 0.8;
/** The weight of the usual spread, in values. */
const usualWeight = 2;

/** One of the levels between which a quantity changes. */
export interface Regime {
  /** The probability that the next value belongs to it. */
  readonly share: number;
  /** The number of values that support it. */
  readonly weight: number;
  readonly spread: LogNormal;
}

export interface Regimes {
  /** In ascending order. */
  readonly all: readonly Regime[];
  /** The regime of each value, by index; valid until the next call. */
  readonly places: Uint8Array;
}

/**
 * Finds the regimes of a quantity that varies by factors, and predicts the next one.
 *
 * The work of an action may depend on its input, alternate, or have changed permanently. Its next regime is predicted
 * from the past successors of the present one, and from how often each occurs: a first-order Markov chain. So a
 * permanent change is followed after two values, an outlier has the probability of earlier outliers, and alternating
 * values are a mixture.
 *
 * @param @param logarithms The values, the oldest first. @param weights The weight of each value, at most 1. @param
 * persistence How often a value stays in the regime of the one before, when no successor is known.
 */
export function regimesOf(
  logarithms: Float64Array,
  weights: Float64Array,
  persistence: number,
): Regimes {
  const count = logarithms.length;
  if (places.length < count) places = new Uint8Array(2 * count);
  if (count === 0) return { all: [], places };
  const sums = Array.from({ length: placeAll(logarithms) }, () => ({
    weight: 0,
    sum: 0,
    squares: 0,
    often: 0,
    followed: 0,
    factor: 1,
  }));
  // The latest first, so that the decreasing weight is a factor.
  let factor = 1;
  let often = 0;
  let followed = 0;
  let next = -1;
  let last = -1;
  for (let i = count - 1; i >= 0; i--) {
    const value = logarithms[i] ?? 0;
    const place = places[i] ?? 0;
    const counts = weights[i] ?? 1;
    const of = sums[place];
    if (of === undefined) continue;
    const within = of.factor * counts;
    of.weight += within;
    of.sum += within * value;
    of.squares += within * value * value;
    of.factor *= memoryWithin;
    of.often += factor * counts;
    often += factor * counts;
    if (last === -1) last = place;
    else if (place === last) {
      const after = sums[next];
      const transition = (factor / memory) * (weights[i + 1] ?? 1);
      if (after !== undefined) after.followed += transition;
      followed += transition;
    }
    next = place;
    factor *= memory;
    if (factor < leastFactor) break;
  }
  return {
    all: sums.map((of, place) => {
      // All its values may be too old to count; then its share is zero, too.
      const mu = of.weight > 0 ? of.sum / of.weight : 0;
      const usual = (1 - persistence) * (of.often / often) + (place === last ? persistence : 0);
      const squares = Math.max(0, of.squares - of.weight * mu * mu);
      const variance =
        (squares + usualWeight * defaultSigma * defaultSigma) / (of.weight + usualWeight);
      return {
        share: (of.followed + usualTransitions * usual) / (followed + usualTransitions),
        weight: of.weight,
        spread: { mu, sigma: Math.sqrt(variance) },
      };
    }),
    places,
  };
}

/** Bins of a quarter of a factor of two; logarithms of counts of milliseconds or bytes are 0 to 44. */
const binWidth = gap / 4;
const bins = 256;
/** This many empty bins in a row are a gap: together with the partly empty neighbours, more than a factor of two. */
const emptyBins = 4;

// Kept between calls, because allocating arrays is expensive compared with their use; all are written before they are
// read.
const isTaken = new Uint8Array(bins);
const placeOfBin = new Uint8Array(bins);
let places = new Uint8Array(bins);

/**
 * Stores the regime of each value in `places`. It does not sort the values, because it runs for each decision.
 *
 * @returns How many regimes there are.
 */
function placeAll(logarithms: Float64Array): number {
  isTaken.fill(0);
  for (let i = 0; i < logarithms.length; i++) {
    const bin = Math.floor((logarithms[i] ?? 0) / binWidth);
    const bounded = bin < 0 ? 0 : bin < bins ? bin : bins - 1;
    isTaken[bounded] = 1;
    places[i] = bounded;
  }
  const gaps: { readonly width: number; readonly end: number }[] = [];
  let before = -1;
  for (let bin = 0; bin < bins; bin++) {
    if (isTaken[bin] === 0) continue;
    const width = bin - before - 1;
    if (before !== -1 && width >= emptyBins) gaps.push({ width, end: bin });
    before = bin;
  }
  if (gaps.length >= mostRegimes) {
    gaps.sort((one, other) => other.width - one.width);
    gaps.length = mostRegimes - 1;
    gaps.sort((one, other) => one.end - other.end);
  }
  placeOfBin.fill(0);
  gaps.forEach(({ end }, i) => {
    placeOfBin.fill(i + 1, end);
  });
  for (let i = 0; i < logarithms.length; i++) places[i] = placeOfBin[places[i] ?? 0] ?? 0;
  return gaps.length + 1;
}

/** Returns all regimes as one distribution, with the same mean and variance of logarithms. */
export function combinedRegime(
  parts: readonly { readonly share: number; readonly spread: LogNormal }[],
): LogNormal {
  let mu = 0;
  for (const { share, spread } of parts) mu += share * spread.mu;
  let variance = 0;
  for (const { share, spread } of parts)
    variance += share * (spread.sigma ** 2 + (spread.mu - mu) ** 2);
  return { mu, sigma: Math.sqrt(variance) };
}
