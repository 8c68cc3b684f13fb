import type { SpeedUp } from "./action-regimes.ts";
import { type KeyDigest, logSpeedUpOfBin, speedUpBins } from "./key-digest.ts";

/**
 * The scaling of a run: Amdahl's law with a limited width.
 *
 * On k CPUs it takes (1 - share) + share / min(k, width) of its time on one.
 */
interface Scaling {
  readonly share: number;
  readonly width: number;
  /** Its probability when nothing is known. */
  readonly prior: number;
}

/** For actions without any data. "Most of the actions are single-threaded" (the original design). */
const priorOfSerial = 0.7;
const shares = [0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1];
const widths = [2, 4, 8, 32];

export const scalings: readonly Scaling[] = [
  { share: 0, width: 1, prior: priorOfSerial },
  ...shares.flatMap((share) =>
    widths.map((width) => ({
      share,
      width,
      prior: (1 - priorOfSerial) / (shares.length * widths.length),
    })),
  ),
];
/** The first of them uses one CPU. */
export const serial = 0;
export const priorOfScalings: Float64Array = Float64Array.from(scalings, (each) => each.prior);

/** How much measured speed-ups of runs with one scaling differ, as a logarithm; the grid has the same resolution. */
const speedUpSigma = 0.1;
/** An outlier never excludes a scaling completely. */
const leastLikelihood = 1e-3;
/** A mixture of actions counts against this many runs of the level above. */
const weightAbove = 2;
/**
 * The weight of serial runs on one CPU, where no scaling can be observed. An action often runs there because it is
 * serial, while parallel ones are observed elsewhere; without this weight the latter would represent all.
 */
const serialOnOneCpu = 0.3;

/** The values of all scalings on this number of CPUs. */
interface OnCpus {
  readonly logSpeedUp: Float64Array;
  /** The time there divided by the time on one CPU. */
  readonly slowness: Float64Array;
  /** Likelihoods of speed-ups: bin × scaling. */
  readonly likelihood: Float64Array;
}

const byCpus = new Map<number, OnCpus>();
const mostKept = 256;

export function onCpus(cpus: number): OnCpus {
  let known = byCpus.get(cpus);
  if (known === undefined) {
    known = computeOnCpus(cpus);
    if (byCpus.size >= mostKept) byCpus.clear();
    byCpus.set(cpus, known);
  }
  return known;
}

function computeOnCpus(cpus: number): OnCpus {
  const slowness = Float64Array.from(
    scalings,
    ({ share, width }) => (1 - share) / Math.min(1, cpus) + share / Math.min(cpus, width),
  );
  const logSpeedUp = slowness.map((each) => -Math.log(each));
  const likelihood = new Float64Array(speedUpBins * scalings.length);
  for (let bin = 0; bin < speedUpBins; bin++)
    for (let s = 0; s < scalings.length; s++) {
      const off = (logSpeedUpOfBin(bin) - (logSpeedUp[s] ?? 0)) / speedUpSigma;
      likelihood[bin * scalings.length + s] = Math.max(leastLikelihood, Math.exp((-off * off) / 2));
    }
  return { logSpeedUp, slowness, likelihood };
}

interface Known {
  readonly above: Float64Array;
  readonly cpus: readonly number[];
  readonly likely: Float64Array;
}
const ofMixtures = new WeakMap<KeyDigest, Known>();

/** Estimates the scalings of another action from a mixture of actions and the level above. */
export function scalingsOfMixture(
  above: Float64Array,
  digest: KeyDigest,
  cpusOf: (sizeClass: number) => number,
): Float64Array {
  const cpus = digest.classes.map(({ sizeClass }) => cpusOf(sizeClass));
  const known = ofMixtures.get(digest);
  if (known?.above === above && known.cpus.every((each, i) => each === cpus[i]))
    return known.likely;
  const likely = computeOfMixture(above, digest, cpus);
  ofMixtures.set(digest, { above, cpus, likely });
  return likely;
}

function computeOfMixture(
  above: Float64Array,
  digest: KeyDigest,
  cpus: readonly number[],
): Float64Array {
  const count = above.length;
  const sum = new Float64Array(count);
  const share = new Float64Array(count);
  let total = 0;
  let unseen = 0;
  for (let c = 0; c < cpus.length; c++) {
    const speedUps = digest.classes[c]?.speedUps;
    if (speedUps === undefined) continue;
    const onOne = (cpus[c] ?? 1) <= 1;
    const { likelihood } = onCpus(cpus[c] ?? 1);
    for (let bin = 0; bin < speedUpBins; bin++) {
      const runs = speedUps[bin] ?? 0;
      if (runs === 0) continue;
      total += runs;
      if (onOne) {
        unseen += runs;
        continue;
      }
      let all = 0;
      for (let s = 0; s < count; s++) {
        const each = (above[s] ?? 0) * (likelihood[bin * count + s] ?? 0);
        share[s] = each;
        all += each;
      }
      for (let s = 0; s < count; s++) sum[s] = (sum[s] ?? 0) + (runs * (share[s] ?? 0)) / all;
    }
  }
  if (total === 0) return above;
  sum[serial] = (sum[serial] ?? 0) + unseen * serialOnOneCpu;
  const ofAbove = unseen * (1 - serialOnOneCpu) + weightAbove;
  for (let s = 0; s < count; s++)
    sum[s] = ((sum[s] ?? 0) + ofAbove * (above[s] ?? 0)) / (total + weightAbove);
  return sum;
}

/** Estimates the scaling of one action from its own runs, which all scale equally, and the level above. */
export function scalingsOfAction(
  above: Float64Array,
  speedUps: readonly SpeedUp[],
  cpusOf: (sizeClass: number) => number,
): Float64Array {
  const seen = speedUps.filter((each) => each.weight > 0 && cpusOf(each.sizeClass) > 1);
  if (seen.length === 0) return above;
  const logs = new Float64Array(scalings.length);
  let greatest = Number.NEGATIVE_INFINITY;
  for (let s = 0; s < logs.length; s++) {
    let log = Math.log(Math.max(1e-12, above[s] ?? 0));
    for (const each of seen) {
      const off = (each.log - (onCpus(cpusOf(each.sizeClass)).logSpeedUp[s] ?? 0)) / speedUpSigma;
      log -= (each.weight * off * off) / 2;
    }
    logs[s] = log;
    greatest = Math.max(greatest, log);
  }
  let all = 0;
  for (let s = 0; s < logs.length; s++) {
    const each = Math.exp((logs[s] ?? 0) - greatest);
    logs[s] = each;
    all += each;
  }
  for (let s = 0; s < logs.length; s++) logs[s] = (logs[s] ?? 0) / all;
  return logs;
}
