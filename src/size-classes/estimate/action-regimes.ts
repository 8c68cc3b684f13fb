import { historySize, type PastRun } from "../past-run.ts";
import type { LogNormal } from "./log-normal.ts";
import { type Regime, regimesOf } from "./regimes.ts";
import { logOutOfMemoryFactor, logStoppedFactor } from "./usual-spread.ts";

/** The speed-up over one CPU that was observed on a class: the number of runs, and the mean of its logarithm. */
export interface SpeedUp {
  readonly sizeClass: number;
  weight: number;
  log: number;
}

/** Runs of an action with about the same amount of work. */
interface WorkRegime {
  /** The probability that the next run belongs to it. */
  readonly share: number;
  /** Milliseconds on one CPU, and the number of runs that support it. */
  readonly work: LogNormal;
  readonly weight: number;
  readonly speedUps: readonly SpeedUp[];
}

/** A run that was ended in favour of one on a larger class, which succeeded: by its timeout, or by a second run. */
interface EndedRun {
  readonly sizeClass: number;
  readonly ranMs: number;
  /** The work of the run on the larger class, in milliseconds on one CPU. */
  readonly workMs: number;
}

/** The results of the runs of one action, in their order. */
export interface ActionRegimes {
  readonly work: readonly WorkRegime[];
  readonly memory: readonly Regime[];
  /** The speed-up on each class, whatever the work. */
  readonly speedUps: readonly SpeedUp[];
  /** The work of its last runs, in milliseconds on one CPU. */
  readonly latestLogWorks: readonly number[];
  readonly endedEarly: readonly EndedRun[];
  /** Runs that ran out of memory: their class, and their measurements; 0 when nothing was measured. */
  readonly shortages: readonly Shortage[];
}

interface Shortage {
  readonly sizeClass: number;
  readonly peakBytes: number;
}

/**
 * The assumed persistence of high memory needs. A developer whose change needs much memory usually builds it more than
 * once; if it was an outlier, the cost is one run on a larger class. Work depends more on the input of a run. On ten
 * kinds of traces, 0.3 and 0.5 for work cost 1 to 2 % with heavy-tailed times and gained nothing; for memory they cost
 * 0.2 %.
 */
const persistenceOfMemory = 0.5;
const persistenceOfWork = 0;
/** As many runs as are stored for a class. */
const latest = historySize;
/** As in `regimesOf`: the last five runs have the most weight. */
const speedUpMemory = 0.8;

/** The parts of the buffer: for each run with work, and for each run with a known memory use. */
const parts = {
  logWork: 0,
  workWeight: 1,
  logSpeedUp: 2,
  worth: 3,
  sizeClass: 4,
  logNeed: 5,
  needWeight: 6,
  count: 7,
} as const;

/** A failed run, until the next one shows whether it belongs to the same execution. */
interface Open {
  readonly run: PastRun;
  readonly sizeClass: number;
  readonly logWork: number;
  readonly weight: number;
}

// Reused for several histories, because allocating arrays is expensive compared with their use. Each is read completely
// before the next starts.
let room = new Float64Array(0);

/** Collects the runs of one action, the earliest first; for one action at a time. */
export class ActionSamples {
  readonly #most: number;
  #works = 0;
  #needs = 0;
  readonly #endedEarly: EndedRun[] = [];
  readonly #shortages: Shortage[] = [];
  #open: Open | undefined;

  /** @param most The maximum number of added runs. */
  constructor(most: number) {
    this.#most = most;
    if (room.length < parts.count * most) room = new Float64Array(parts.count * most);
  }

  /**
   * @param @param logWork The logarithm of its work, in milliseconds on one CPU. @param logSpeedUp The logarithm of its
   * speed-up over one CPU; NaN when it was not observed. @param worth The weight of the speed-up: 1 when CPU time was
   * measured. @param weight 1, and less for runs older than the memory of a full class.
   */
  add(
    run: PastRun,
    sizeClass: number,
    logWork: number,
    logSpeedUp: number,
    worth: number,
    weight: number,
  ): void {
    const before = this.#open;
    this.#open = undefined;
    // The next run of the action, on a larger class, is usually the retry of the same execution.
    const first = before !== undefined && sizeClass > before.sizeClass ? before : undefined;
    if (before !== undefined && first === undefined) this.#alone(before);
    if (run.end === "failed") return;
    if (run.end === "out_of_memory")
      this.#shortages.push({ sizeClass, peakBytes: run.peakMemoryBytes ?? 0 });
    if (run.end !== "succeeded") {
      this.#open = { run, sizeClass, logWork, weight };
      return;
    }
    this.#work(sizeClass, logWork, logSpeedUp, worth, weight);
    if (first?.run.end === "timed_out")
      this.#endedEarly.push({
        sizeClass: first.sizeClass,
        ranMs: first.run.durationMs,
        workMs: Math.exp(logWork),
      });
    // An attempt that ran out of memory contains more information than the measurement of the run with enough memory.
    const short = first?.run.end === "out_of_memory" ? (first.run.peakMemoryBytes ?? 0) : 0;
    const bytes = Math.max(run.peakMemoryBytes ?? 0, short * justOver);
    if (bytes > 0) this.#need(Math.log(bytes), weight);
  }

  teaches(): { readonly kind: "of-one-action" } & ActionRegimes {
    if (this.#open !== undefined) this.#alone(this.#open);
    this.#open = undefined;
    const logWorks = this.#part(parts.logWork, this.#works);
    const memory = regimesOf(
      this.#part(parts.logNeed, this.#needs),
      this.#part(parts.needWeight, this.#needs),
      persistenceOfMemory,
    ).all;
    const { all, places } = regimesOf(
      logWorks,
      this.#part(parts.workWeight, this.#works),
      persistenceOfWork,
    );
    const together: SpeedUp[] = [];
    const each: SpeedUp[][] = all.map(() => []);
    for (let i = 0; i < logWorks.length; i++) {
      const log = this.#at(parts.logSpeedUp, i);
      if (Number.isNaN(log)) continue;
      const sizeClass = this.#at(parts.sizeClass, i);
      const worth = this.#at(parts.worth, i);
      addTo(together, sizeClass, log, worth);
      if (all.length > 1) addTo(each[places[i] ?? 0] ?? [], sizeClass, log, worth);
    }
    return {
      kind: "of-one-action",
      work: all.map(({ share, weight, spread }, i) => ({
        share,
        weight,
        work: spread,
        speedUps: all.length > 1 ? (each[i] ?? []) : together,
      })),
      memory,
      speedUps: together,
      latestLogWorks: Array.from(logWorks.subarray(-latest)),
      endedEarly: this.#endedEarly,
      shortages: this.#shortages,
    };
  }

  /** No later run shows how much it would have needed, so this is estimated. */
  #alone({ run, sizeClass, logWork, weight }: Open): void {
    const { end, peakMemoryBytes = 0 } = run;
    if (end === "timed_out")
      this.#work(sizeClass, logWork + logStoppedFactor, Number.NaN, 0, weight);
    else if (peakMemoryBytes > 0)
      this.#need(Math.log(peakMemoryBytes) + logOutOfMemoryFactor, weight);
  }

  #work(
    sizeClass: number,
    logWork: number,
    logSpeedUp: number,
    worth: number,
    weight: number,
  ): void {
    const at = this.#works++;
    this.#set(parts.logWork, at, logWork);
    this.#set(parts.workWeight, at, weight);
    this.#set(parts.logSpeedUp, at, logSpeedUp);
    this.#set(parts.worth, at, worth);
    this.#set(parts.sizeClass, at, sizeClass);
  }

  #need(logBytes: number, weight: number): void {
    const at = this.#needs++;
    this.#set(parts.logNeed, at, logBytes);
    this.#set(parts.needWeight, at, weight);
  }

  #set(part: number, at: number, value: number): void {
    room[part * this.#most + at] = value;
  }

  #at(part: number, at: number): number {
    return room[part * this.#most + at] ?? 0;
  }

  #part(part: number, count: number): Float64Array {
    return room.subarray(part * this.#most, part * this.#most + count);
  }
}

/** A run that ran out of memory needs at least slightly more than it had. */
const justOver = 1.01;

function addTo(speedUps: SpeedUp[], sizeClass: number, log: number, worth: number): void {
  let on = speedUps.find((each) => each.sizeClass === sizeClass);
  if (on === undefined) {
    on = { sizeClass, weight: 0, log: 0 };
    speedUps.push(on);
  }
  on.weight = speedUpMemory * on.weight + worth;
  on.log += ((log - on.log) * worth) / on.weight;
}
