import type { ClassEstimate, Estimate } from "../estimate/estimate.ts";
import { onCpus, scalings } from "../estimate/scaling.ts";
import type { SizeClassSettings } from "../settings.ts";
import type { OfferedClass } from "../strategy.ts";

/**
 * A run that lacks memory ends early, on average in the middle: most programs reach their peak in the first half, and a
 * program that needs twice as much ends in half the time.
 */
const shareOfLackingRun = 0.5;
/** A slowdown that is large enough to fail a run appears late. */
const shareOfSlowRun = 1;
/**
 * The longest wait that has a price, in ms. Without a free slot, the farm starts a machine and pays for it from then
 * on, or others wait behind this execution. So a wait also costs the price of the class: for at most a minute, which is
 * about the time that machines take to start.
 */
const mostPaidWaitMs = 60_000;
/** A class is not considered if failure is at least this likely. */
const nearlyCertainRisk = 0.95;

/** The path that starts on a class and moves to larger ones after each failure. */
export interface CostedPath extends Path {
  readonly estimate: ClassEstimate;
  /** The probability that the first run fails there. */
  readonly risk: number;
}

/** Returns the price of one second of waiting, in the unit of the classes' prices. */
export function priceOfWaiting(
  classes: readonly OfferedClass[],
  { priceOfDelay }: SizeClassSettings,
): number {
  const least = classes[0];
  if (least === undefined) return 0;
  // Class 1 may not be offered; then the price of a class of its size is used. If it is free, waiting costs as much as
  // for a class of price 1.
  return priceOfDelay * (least.price / least.sizeClass || 1);
}

/**
 * Returns the total cost of starting on each class.
 *
 * An execution that failed on a class would have failed on smaller ones, and the probability that it fails on a larger
 * one is the remaining one. So the last class is computed first.
 */
export function costedPaths(
  estimate: Estimate,
  waiting: number,
  /** The probability that it fails everywhere: on a smaller class it would then run once more on the largest. */
  failsAnyway = 0,
): CostedPath[] {
  const { classes } = estimate;
  const greatest = classes.at(-1);
  const onceMore =
    greatest === undefined || failsAnyway === 0
      ? nothing
      : scaled(pathOver(greatest, 1, 0, nothing, waiting), failsAnyway);
  const risks = classes.map((each) => 1 - (1 - each.memoryRisk) * (1 - each.slowRisk));
  // The probability that it fails on a class and on all smaller ones.
  const failing = [...risks];
  for (let i = 1; i < failing.length; i++)
    failing[i] = Math.min(failing[i] ?? 0, failing[i - 1] ?? 0);
  const afterwards = classes.map(() => nothing);
  for (let from = classes.length - 2; from >= 0; from--) {
    const reached = failing[from] ?? 0;
    if (reached === 0) continue;
    let best: Path | undefined;
    for (let to = from + 1; to < classes.length; to++) {
      const each = classes[to];
      if (each === undefined) continue;
      const path = pathOver(each, reached, failing[to] ?? 0, afterwards[to] ?? nothing, waiting);
      if (best === undefined || path.total < best.total) best = path;
    }
    afterwards[from] = best ?? nothing;
  }
  return classes.map((each, i) => {
    const risk = risks[i] ?? 0;
    const joint = failing[i] ?? 0;
    const after = scaled(afterwards[i] ?? nothing, joint > 0 ? risk / joint : 0);
    const path = pathOver(each, 1, risk, after, waiting);
    return { ...(each === greatest ? path : sumOf(path, onceMore)), estimate: each, risk };
  });
}

interface Path {
  /** The cost of workers, in price × milliseconds. */
  readonly paid: number;
  /** Milliseconds until its end, including waiting and retries. */
  readonly delayMs: number;
  /** The paid price, plus the price of waiting × the delay. */
  readonly total: number;
}
const nothing: Path = { paid: 0, delayMs: 0, total: 0 };

function sumOf(one: Path, other: Path): Path {
  return {
    paid: one.paid + other.paid,
    delayMs: one.delayMs + other.delayMs,
    total: one.total + other.total,
  };
}

function scaled({ paid, delayMs, total }: Path, by: number): Path {
  return { paid: paid * by, delayMs: delayMs * by, total: total * by };
}

/** @param reached The probability that it is run there. @param fails The probability that it fails there, too. */
function pathOver(
  { offered, expectedMs, memoryRisk, slowRisk }: ClassEstimate,
  reached: number,
  fails: number,
  after: Path,
  waiting: number,
): Path {
  const share =
    memoryRisk + slowRisk > 0
      ? (memoryRisk * shareOfLackingRun + slowRisk * shareOfSlowRun) / (memoryRisk + slowRisk)
      : 1;
  const runMs = (reached - fails + fails * share) * expectedMs;
  const paid =
    offered.price * (runMs + reached * Math.min(mostPaidWaitMs, offered.waitMs)) + after.paid;
  const delayMs = reached * offered.waitMs + runMs + after.delayMs;
  return { paid, delayMs, total: paid + waiting * delayMs };
}

/** Returns the value of complete knowledge about the scaling, per later execution: more than any run can show. */
export function valueOfFullKnowledge({ classes, parts }: Estimate, waiting: number): number {
  const tables = classes.map(({ offered }) => onCpus(offered.cpus));
  const perMs = classes.map(({ offered, memoryRisk }) =>
    memoryRisk < nearlyCertainRisk ? offered.price + waiting : Number.POSITIVE_INFINITY,
  );
  const ofAll = new Float64Array(classes.length);
  let known = 0;
  for (const { share, expectedMs, scalings: likely } of parts)
    for (let s = 0; s < likely.length; s++) {
      const weight = (likely[s] ?? 0) * share * expectedMs;
      if (weight === 0) continue;
      let least = Number.POSITIVE_INFINITY;
      for (let c = 0; c < ofAll.length; c++) {
        const cost = weight * (tables[c]?.slowness[s] ?? 1) * (perMs[c] ?? 0);
        ofAll[c] = (ofAll[c] ?? 0) + cost;
        if (cost < least) least = cost;
      }
      known += least;
    }
  const unseen = Math.min(...ofAll);
  return unseen === Number.POSITIVE_INFINITY ? 0 : Math.max(0, unseen - known);
}

/**
 * Returns the value of one observed run on each class, per later execution.
 *
 * A run on several CPUs shows how its regime scales: scalings that look similar there stay together, and the best class
 * of each group is used. The value is the saving compared with the same class for all, weighted with the share of the
 * regime. The other regimes stay unknown.
 */
export function valueOfOneRun({ classes, parts }: Estimate, waiting: number): Float64Array {
  const worth = new Float64Array(classes.length);
  const perMs = classes.map(({ offered, memoryRisk }) =>
    memoryRisk < nearlyCertainRisk ? offered.price + waiting : Number.POSITIVE_INFINITY,
  );
  const tables = classes.map(({ offered }) => onCpus(offered.cpus));
  const costs = parts.map(({ share, expectedMs, scalings: likely }) =>
    tables.map(({ slowness }, c) => {
      let mean = 0;
      for (let s = 0; s < slowness.length; s++) mean += (likely[s] ?? 0) * (slowness[s] ?? 1);
      return share * expectedMs * mean * (perMs[c] ?? 0);
    }),
  );
  const ofAll = classes.map((_, c) => costs.reduce((sum, each) => sum + (each[c] ?? 0), 0));
  const unseen = Math.min(...ofAll);
  if (unseen === Number.POSITIVE_INFINITY) return worth;
  const sums = new Float64Array(classes.length);
  parts.forEach(({ share, expectedMs, scalings: likely }, p) => {
    const others = ofAll.map((all, c) => all - (costs[p]?.[c] ?? 0));
    const leastOfGroup = (members: readonly number[]): number => {
      sums.fill(0);
      let reached = 0;
      for (const s of members) {
        const weight = likely[s] ?? 0;
        if (weight < 1e-6) continue;
        reached += weight;
        for (let c = 0; c < sums.length; c++)
          sums[c] = (sums[c] ?? 0) + weight * (tables[c]?.slowness[s] ?? 1);
      }
      if (reached === 0) return 0;
      let least = Number.POSITIVE_INFINITY;
      for (let c = 0; c < sums.length; c++) {
        const each = perMs[c] ?? 0;
        if (each === Number.POSITIVE_INFINITY) continue;
        const sum = (sums[c] ?? 0) * each * share * expectedMs + reached * (others[c] ?? 0);
        if (sum < least) least = sum;
      }
      return least;
    };
    for (let c = 0; c < classes.length; c++) {
      const cpus = classes[c]?.offered.cpus ?? 1;
      if (cpus <= 1) continue;
      let seen = 0;
      for (const group of groupsOn(cpus)) seen += leastOfGroup(group);
      worth[c] = (worth[c] ?? 0) + share * Math.max(0, unseen - seen);
    }
  });
  return worth;
}

/** Scalings whose speed-ups differ by less than this cannot be told apart in one run. */
const lookAlike = 0.15;
const groupsByCpus = new Map<number, readonly (readonly number[])[]>();
const mostKept = 256;

function groupsOn(cpus: number): readonly (readonly number[])[] {
  let groups = groupsByCpus.get(cpus);
  if (groups === undefined) {
    groups = computeGroups(cpus);
    if (groupsByCpus.size >= mostKept) groupsByCpus.clear();
    groupsByCpus.set(cpus, groups);
  }
  return groups;
}

function computeGroups(cpus: number): number[][] {
  const { logSpeedUp } = onCpus(cpus);
  const bySpeed = scalings
    .map((_, s) => s)
    .sort((a, b) => (logSpeedUp[a] ?? 0) - (logSpeedUp[b] ?? 0));
  const groups: number[][] = [];
  let least = Number.NEGATIVE_INFINITY;
  for (const s of bySpeed) {
    const speed = logSpeedUp[s] ?? 0;
    if (speed - least > lookAlike) {
      groups.push([]);
      least = speed;
    }
    groups.at(-1)?.push(s);
  }
  return groups;
}
