import type { KeyHistory } from "../key-history.ts";
import { historySize, type PastRun } from "../past-run.ts";
import { type ActionRegimes, ActionSamples } from "./action-regimes.ts";
import type { LogNormal } from "./log-normal.ts";
import { Mixture } from "./mixture.ts";
import { defaultSigma, logOutOfMemoryFactor, logStoppedFactor } from "./usual-spread.ts";

/** The weight of runs older than the complete memory of a class: they exist only on rarely used classes. */
const beforeWindowWeight = 0.1;
/** Speed-ups are grouped by an eighth of their logarithm. The last group contains all above e^(20/8) = 12. */
const binsPerLogarithm = 8;
export const speedUpBins = 21;

/** The results of a key's runs on one class. */
export interface ClassDigest {
  readonly sizeClass: number;
  runs: number;
  succeeded: number;
  outOfMemory: number;
  /** Recent runs that failed or timed out here, when the next run of the key, on a larger class, succeeded. */
  refuted: number;
  /** Speed-ups over one CPU, as a histogram; for keys of many actions. */
  readonly speedUps: Float64Array | undefined;
}

/** The digest of a key's runs, independent of the offered classes. */
export interface KeyDigest {
  /** The number of all stored runs. */
  readonly runs: number;
  readonly succeeded: number;
  readonly classes: readonly ClassDigest[];
  /** The longest duration of a successful run. */
  readonly longestSuccessMs: number;
  readonly teaches: Teaches;
}

/** An action's own runs are a sequence; those of a target or a tool are a mixture of many actions. */
type Teaches =
  | ({ readonly kind: "of-one-action" } & ActionRegimes)
  | {
      readonly kind: "of-many-actions";
      /** Milliseconds on one CPU for one run, and the number of runs that support it. */
      readonly work: LogNormal;
      readonly workWeight: number;
      readonly memory: LogNormal;
      readonly memoryWeight: number;
    };

const digests = new WeakMap<KeyHistory, KeyDigest>();

/** Histories do not change, so each is digested once. */
export function digestOf(history: KeyHistory): KeyDigest {
  let digest = digests.get(history);
  if (digest === undefined) {
    digest = read(history);
    digests.set(history, digest);
  }
  return digest;
}

function read(history: KeyHistory): KeyDigest {
  const isMixture = history.level !== "action";
  const lanes = lanesOf(history, isMixture);
  const all = lanes.reduce((sum, { runs }) => sum + runs.length, 0);
  const windowStart = windowStartOf(lanes);
  const speedUps = isMixture ? undefined : speedUpsWithoutCpu(lanes);
  const samples = isMixture ? new ManyActions() : new ActionSamples(all);
  let longestSuccessMs = 0;
  let succeeded = 0;
  let failedBefore: Lane | undefined;
  for (let number = 1; number <= all; number++) {
    const lane = earliest(lanes);
    const run = lane.runs[lane.next++];
    if (run === undefined) break;
    const on = lane.digest;
    const { end } = run;
    on.runs++;
    on.refuted *= refutationMemory;
    const isKnown = run.cpuMs !== undefined && run.cpuMs > 0;
    const elapsed = Math.log(Math.max(1, run.durationMs));
    // Waiting for anything except a CPU takes as long on any class, so it counts as serial work.
    const speedUp = isKnown
      ? Math.max(0, Math.log(run.cpuMs ?? 1) - elapsed)
      : (speedUps?.[lanes.indexOf(lane)] ?? 0);
    const isSeen = isKnown || speedUps !== undefined;
    const weight = run.at < windowStart ? beforeWindowWeight : 1;
    // A speed-up that compares only durations has less weight.
    const worth = isKnown ? 1 : 0.3;
    const seen = isSeen ? speedUp : Number.NaN;
    samples.add(run, on.sizeClass, elapsed + speedUp, seen, worth, weight);
    if (end === "succeeded") {
      succeeded++;
      on.succeeded++;
      if (on.speedUps !== undefined && isSeen) addSpeedUp(on.speedUps, speedUp, weight);
      longestSuccessMs = Math.max(longestSuccessMs, run.durationMs);
      // The next run of the key after a failure is usually the retry of the same execution.
      if (failedBefore && failedBefore.digest.sizeClass < on.sizeClass)
        failedBefore.digest.refuted++;
    } else if (end === "out_of_memory") on.outOfMemory++;
    failedBefore = end === "failed" ? lane : undefined;
  }
  return {
    runs: all,
    succeeded,
    classes: lanes.map(({ digest }) => digest),
    longestSuccessMs,
    teaches: samples.teaches(),
  };
}

/** The runs of many actions, without an order. */
class ManyActions {
  readonly #work = new Mixture(defaultSigma);
  readonly #memory = new Mixture(defaultSigma);

  /** @param logWork and so on: as in `ActionSamples`. */
  add(
    { end, peakMemoryBytes = 0 }: PastRun,
    _sizeClass: number,
    logWork: number,
    _logSpeedUp: number,
    _worth: number,
    weight: number,
  ): void {
    if (end === "succeeded" || end === "timed_out")
      this.#work.add(logWork + (end === "timed_out" ? logStoppedFactor : 0), weight);
    if (peakMemoryBytes > 0 && (end === "succeeded" || end === "out_of_memory"))
      this.#memory.add(
        Math.log(peakMemoryBytes) + (end === "out_of_memory" ? logOutOfMemoryFactor : 0),
        weight,
      );
  }

  teaches(): Teaches {
    return {
      kind: "of-many-actions",
      work: this.#work.spread(),
      workWeight: this.#work.weight,
      memory: this.#memory.spread(),
      memoryWeight: this.#memory.weight,
    };
  }
}

/** The position in the runs of one class. */
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

/** Returns the time from which all runs are stored: a full class has dropped the runs before it. */
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

/** Each later run on the class reduces the weight of the evidence against it by this factor. */
const refutationMemory = 0.9;

function addSpeedUp(speedUps: Float64Array, speedUp: number, weight: number): void {
  const bin = Math.min(speedUpBins - 1, Math.round(speedUp * binsPerLogarithm));
  speedUps[bin] = (speedUps[bin] ?? 0) + weight;
}

export function logSpeedUpOfBin(bin: number): number {
  return bin / binsPerLogarithm;
}

const comparedRuns = 5;

/**
 * Returns how much faster an action is on each class than on the smallest class on which it ran, when CPU time was not
 * measured.
 */
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
    refuted: 0,
    speedUps: isMixture ? new Float64Array(speedUpBins) : undefined,
  };
}
