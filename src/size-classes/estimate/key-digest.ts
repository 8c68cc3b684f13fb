import type { KeyHistory } from "../key-history.ts";
import { historySize, type PastRun } from "../past-run.ts";
import { Drift } from "./drift.ts";
import type { LogNormal } from "./log-normal.ts";
import { Mixture } from "./mixture.ts";

/** How much a key's own runs vary around their middle before there are enough to say: by a quarter, up or down. */
const usualWorkSigma = 0.25;
const usualMemorySigma = 0.25;
/** A run that was stopped for its time would have taken longer, say half as long again; nobody knows. */
const logStoppedFactor = Math.log(1.5);
/** As above, of one that ran out of memory. */
const logOutOfMemoryFactor = Math.log(1.5);
/** Of runs from before a full class's memory reaches: they are there only on classes that are seldom used. */
const beforeWindowWeight = 0.1;
/** Speed-ups that count as alike: by an eighth of their logarithm. The last takes all above e^(20/8) = 12. */
const binsPerLogarithm = 8;
export const speedUpBins = 21;

/** What the runs of a key on one class came to. */
export interface ClassDigest {
  readonly sizeClass: number;
  runs: number;
  succeeded: number;
  outOfMemory: number;
  /** Numbers of runs in time, over all classes; 0 for none. */
  latestOutOfMemory: number;
  latestSuccess: number;
  /** What was used when it ran out of memory, or failed: the most since its last success. */
  failedPeakBytes: number;
  latestFailure: number;
  /** Runs of late that failed or ran out of time here, when the next run of the key, on a greater class, succeeded. */
  refuted: number;
  /** Speed-up over one CPU, of runs whose CPU time is known: how many count, and the mean of its logarithm. */
  speedUpWeight: number;
  logSpeedUp: number;
  /** The same as a histogram instead, for keys that stand for many actions. */
  readonly speedUps: Float64Array | undefined;
}

/** What the runs of a key teach, whatever classes are offered. */
export interface KeyDigest {
  /** All runs that are remembered. */
  readonly runs: number;
  readonly succeeded: number;
  /** Milliseconds on one CPU, of one run; and by how many runs it is known. */
  readonly work: LogNormal;
  readonly workWeight: number;
  readonly memory: LogNormal;
  readonly memoryWeight: number;
  readonly classes: readonly ClassDigest[];
  /** The peaks of the last runs that succeeded, the latest last; by their number in time. */
  readonly latestPeaks: readonly { readonly number: number; readonly bytes: number }[];
  /** The longest that it ran and succeeded. */
  readonly longestSuccessMs: number;
}

const digests = new WeakMap<KeyHistory, KeyDigest>();

/** Histories do not change, so each is read once. */
export function digestOf(history: KeyHistory): KeyDigest {
  let digest = digests.get(history);
  if (digest === undefined) {
    digest = read(history);
    digests.set(history, digest);
  }
  return digest;
}

/** Runs whose peaks are kept; more than `shortageOf` asks for. */
const keptPeaks = 16;

function read(history: KeyHistory): KeyDigest {
  // An action's own runs follow one another; those of a target or a tool are a mixture of many actions.
  const isMixture = history.level !== "action";
  const lanes = lanesOf(history, isMixture);
  const all = lanes.reduce((sum, { runs }) => sum + runs.length, 0);
  const windowStart = windowStartOf(lanes);
  const speedUps = isMixture ? undefined : speedUpsWithoutCpu(lanes);
  const work = isMixture ? new Mixture(usualWorkSigma) : new Drift(usualWorkSigma);
  const memory = isMixture ? new Mixture(usualMemorySigma) : new Drift(usualMemorySigma);
  const latestPeaks: { number: number; bytes: number }[] = [];
  let longestSuccessMs = 0;
  let succeeded = 0;
  let failedBefore: Lane | undefined;
  for (let number = 1; number <= all; number++) {
    const lane = earliest(lanes);
    const run = lane.runs[lane.next++];
    if (run === undefined) break;
    const on = lane.digest;
    const { end, peakMemoryBytes = 0 } = run;
    const weight = run.at < windowStart ? beforeWindowWeight : 1;
    on.runs++;
    on.refuted *= refutationMemory;
    if (end === "succeeded" || end === "timed_out") {
      const isKnown = run.cpuMs !== undefined && run.cpuMs > 0;
      const elapsed = Math.log(Math.max(1, run.durationMs));
      // What waits for something else than a CPU takes as long on any class, so it counts as serial work.
      const speedUp = isKnown
        ? Math.max(0, Math.log(run.cpuMs ?? 1) - elapsed)
        : (speedUps?.[lanes.indexOf(lane)] ?? 0);
      const changes = work.changes;
      work.add(elapsed + speedUp + (end === "timed_out" ? logStoppedFactor : 0), weight);
      // It does other things than before: how they scale is to be learnt anew.
      if (work.changes > changes) for (const each of lanes) each.digest.speedUpWeight = 0;
      if (end === "succeeded" && (isKnown || speedUps !== undefined))
        addSpeedUp(on, speedUp, weight, isKnown);
    }
    if (end === "succeeded") {
      succeeded++;
      on.succeeded++;
      on.latestSuccess = number;
      on.failedPeakBytes = 0;
      longestSuccessMs = Math.max(longestSuccessMs, run.durationMs);
      // The next run of the key after a failure is most often the retry of the same execution.
      if (failedBefore && failedBefore.digest.sizeClass < on.sizeClass)
        failedBefore.digest.refuted++;
      if (peakMemoryBytes > 0) {
        memory.add(Math.log(peakMemoryBytes), weight);
        if (number > all - keptPeaks) latestPeaks.push({ number, bytes: peakMemoryBytes });
      }
    } else {
      on.latestFailure = number;
      on.failedPeakBytes = Math.max(on.failedPeakBytes, peakMemoryBytes);
      if (end === "out_of_memory") {
        on.outOfMemory++;
        on.latestOutOfMemory = number;
        if (peakMemoryBytes > 0)
          memory.add(Math.log(peakMemoryBytes) + logOutOfMemoryFactor, weight);
      }
    }
    failedBefore = end === "failed" ? lane : undefined;
  }
  return {
    runs: all,
    succeeded,
    work: work.spread(),
    workWeight: work.weight,
    memory: memory.spread(),
    memoryWeight: memory.weight,
    classes: lanes.map(({ digest }) => digest),
    latestPeaks,
    longestSuccessMs,
  };
}

/** The runs of one class, on the way through them. */
interface Lane {
  readonly runs: readonly PastRun[];
  readonly digest: ClassDigest;
  next: number;
}

function lanesOf(history: KeyHistory, isMixture: boolean): Lane[] {
  const lanes: Lane[] = [];
  for (const [sizeClass, runs] of history.runs)
    if (runs.length > 0) lanes.push({ runs, digest: emptyClass(sizeClass, isMixture), next: 0 });
  return lanes.sort((one, other) => one.digest.sizeClass - other.digest.sizeClass);
}

/** From when on all runs are remembered: a full class has forgotten those before. */
function windowStartOf(lanes: readonly Lane[]): number {
  let start = 0;
  for (const { runs } of lanes)
    if (runs.length >= historySize) start = Math.max(start, runs[0]?.at ?? 0);
  return start;
}

function earliest(lanes: readonly Lane[]): Lane {
  let first = lanes[0] as Lane;
  let firstAt = Number.POSITIVE_INFINITY;
  for (let i = 0; i < lanes.length; i++) {
    const lane = lanes[i] as Lane;
    const run = lane.runs[lane.next];
    if (run !== undefined && run.at < firstAt) {
      first = lane;
      firstAt = run.at;
    }
  }
  return first;
}

/** Each later run on the class makes what spoke against it count this much less. */
const refutationMemory = 0.9;
/** As in `Drift`. */
const speedUpMemory = 0.8;

function addSpeedUp(on: ClassDigest, speedUp: number, weight: number, isKnown: boolean): void {
  if (on.speedUps !== undefined) {
    const bin = Math.min(speedUpBins - 1, Math.round(speedUp * binsPerLogarithm));
    on.speedUps[bin] = (on.speedUps[bin] ?? 0) + weight;
    return;
  }
  // Compared by durations alone, it is worth less.
  const worth = isKnown ? 1 : 0.3;
  on.speedUpWeight = speedUpMemory * on.speedUpWeight + worth;
  on.logSpeedUp += ((speedUp - on.logSpeedUp) * worth) / on.speedUpWeight;
}

export function logSpeedUpOfBin(bin: number): number {
  return bin / binsPerLogarithm;
}

const comparedRuns = 5;

/** Where CPU time is not measured: how much faster an action is on each class than on the least that it ran on. */
function speedUpsWithoutCpu(lanes: readonly Lane[]): number[] | undefined {
  if (lanes.every(({ runs }) => isMeasured(runs))) return undefined;
  let least: number | undefined;
  return lanes.map(({ runs }) => {
    const good = runs.filter((run) => run.end === "succeeded").slice(-comparedRuns);
    if (good.length === 0) return 0;
    const middle =
      good.reduce((sum, run) => sum + Math.log(Math.max(1, run.durationMs)), 0) / good.length;
    least ??= middle;
    return Math.max(0, least - middle);
  });
}

function isMeasured(runs: readonly PastRun[]): boolean {
  for (let i = 0; i < runs.length; i++) if (runs[i]?.cpuMs === undefined) return false;
  return true;
}

function emptyClass(sizeClass: number, isMixture: boolean): ClassDigest {
  return {
    sizeClass,
    runs: 0,
    succeeded: 0,
    outOfMemory: 0,
    latestOutOfMemory: 0,
    latestSuccess: 0,
    failedPeakBytes: 0,
    latestFailure: 0,
    refuted: 0,
    speedUpWeight: 0,
    logSpeedUp: 0,
    speedUps: isMixture ? new Float64Array(speedUpBins) : undefined,
  };
}
