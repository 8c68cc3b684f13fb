/** The rules for starting and stopping workers. */
export interface ScalingSettings {
  /** How long submitted executions may wait for a slot. */
  readonly targetWaitMs: number;
  /** The time from the request for a worker until it accepts work, in ms. */
  readonly startDelayMs: number;
  /** A worker is stopped after it was not needed for this time. */
  readonly scaleDownMs: number;
}

/** Waiting executions with equal urgency and length. */
interface Waiting {
  readonly executions: number;
  /** The time from which the target wait counts; in the past for executions that have waited. */
  readonly dueInMs: number;
  readonly eachMs: number;
}

/** The facts about one size class of one platform. */
export interface ScalingSituation {
  /** The declared minimum. */
  readonly least: number;
  /** Undefined: no limit. */
  readonly most: number | undefined;
  readonly slotsPerWorker: number;
  /** Workers that accept work. */
  readonly up: number;
  /** Workers with a lease. */
  readonly busyWorkers: number;
  /** The leased executions, and their expected remaining time. */
  readonly held: number;
  readonly remainingMs: number;
  readonly waiting: readonly Waiting[];
  /** Recent arrivals, over the observed time. */
  readonly arrivals: { readonly perSecond: number; readonly eachMs: number };
  /** The largest computed number within `scaleDownMs`. */
  readonly wantedLately: number;
  /** Whether the class was observed for that time. */
  readonly isWatched: boolean;
}

interface DesiredWorkers {
  readonly desired: number;
  /** The number before recent and declared numbers are applied, for the next look. */
  readonly wanted: number;
  readonly reason: string;
}

/**
 * Returns how many workers a class should have.
 *
 * Enough that all waiting executions start in time: by each due time, the executions due then must have been served,
 * and one execution counts at most one slot's worth of that time. Never fewer than are running; and recent numbers
 * remain for some time, to avoid frequent changes.
 */
export function desiredWorkers(
  situation: ScalingSituation,
  settings: ScalingSettings,
): DesiredWorkers {
  const { least, slotsPerWorker, up, busyWorkers, wantedLately, isWatched } = situation;
  const need = slotsNeeded(situation, settings);
  const wanted = Math.max(busyWorkers, Math.ceil(need.slots / slotsPerWorker));
  // A server that has just started does not know the earlier demand, so it releases no worker.
  const kept = Math.max(wanted, wantedLately, isWatched ? 0 : up);
  const most = Math.max(least, situation.most ?? Number.POSITIVE_INFINITY);
  const desired = Math.min(Math.max(kept, least), most);
  return { desired, wanted, reason: reasonFor(situation, settings, { need, wanted, desired }) };
}

type Cause = "nothing" | "running" | "waiting" | "arriving";

interface Need {
  readonly slots: number;
  readonly cause: Cause;
}

function slotsNeeded(situation: ScalingSituation, settings: ScalingSettings): Need {
  const { held, remainingMs, arrivals } = situation;
  const { targetWaitMs, startDelayMs } = settings;
  const waiting = situation.waiting.filter(({ executions }) => executions > 0);
  const count = waiting.reduce((sum, { executions }) => sum + executions, 0);

  const lasting: Need = { slots: held, cause: held > 0 ? "running" : "nothing" };
  const soon: Waiting = {
    executions: (arrivals.perSecond * startDelayMs) / 1_000,
    dueInMs: startDelayMs,
    eachMs: arrivals.eachMs,
  };
  // Only for waiting executions: predicted ones are less certain, and cannot be more urgent.
  const forWaiting = slotsInTime({ held, remainingMs }, waiting, targetWaitMs);
  const forAll = slotsInTime({ held, remainingMs }, [...waiting, soon], targetWaitMs);
  // On average, the number of busy slots is the arrival rate times the duration: Little's law.
  const lasts = (arrivals.perSecond * arrivals.eachMs) / 1_000;
  // No more slots than executions. Predicted ones are rounded down; otherwise one arrival would keep a slot forever.
  const needs: Need[] = [
    lasting,
    { slots: Math.min(forWaiting, held + count), cause: "waiting" },
    {
      slots: Math.floor(
        Math.max(lasts, Math.min(forAll, held + count + Math.floor(soon.executions))),
      ),
      cause: "arriving",
    },
  ];
  return needs.reduce((a, b) => (roundedUp(b.slots) > roundedUp(a.slots) ? b : a));
}

/**
 * Returns the slots that serve all executions in time: the maximum over the due times of the work due by then, divided
 * by that time.
 */
function slotsInTime(
  running: { readonly held: number; readonly remainingMs: number },
  waiting: readonly Waiting[],
  targetWaitMs: number,
): number {
  const byDue = waiting.map((each) => ({
    ...each,
    withinMs: targetWaitMs + Math.max(0, each.dueInMs),
  }));
  return byDue.reduce((most, { withinMs }) => {
    const due = byDue
      .filter((each) => each.withinMs <= withinMs)
      .reduce((sum, each) => sum + each.executions * Math.min(each.eachMs, withinMs), 0);
    const begun = Math.min(running.remainingMs, running.held * withinMs);
    return Math.max(most, roundedUp((due + begun) / withinMs));
  }, 0);
}

/** Rounds up, but ignores rounding errors in sums of many small times. */
function roundedUp(slots: number): number {
  return Math.ceil(slots - 1e-9);
}

function reasonFor(
  situation: ScalingSituation,
  { targetWaitMs, startDelayMs, scaleDownMs }: ScalingSettings,
  found: { readonly need: Need; readonly wanted: number; readonly desired: number },
): string {
  const { least, most, held, up, waiting, arrivals, slotsPerWorker, wantedLately } = situation;
  const { need, wanted, desired } = found;
  const count = waiting.reduce((sum, { executions }) => sum + executions, 0);
  const work = waiting.reduce((sum, { executions, eachMs }) => sum + executions * eachMs, 0);
  const runs =
    held === 0 ? "nothing runs" : `${counted(held, "execution")} ${held === 1 ? "runs" : "run"}`;
  const waits =
    count === 0
      ? "nothing waits"
      : `${counted(count, "execution")} of about ${asSpan(work / count)} ${count === 1 ? "waits" : "wait"}`;
  const slots = roundedUp(need.slots);
  const takes =
    slotsPerWorker === 1 ? "" : `, ${counted(slots, "slot")} at ${slotsPerWorker} per worker`;
  const why: Record<Cause, string> = {
    nothing: `${runs} and ${waits}`,
    running: `${runs} and ${waits}${takes}`,
    waiting: `${runs} and ${waits}, to start within ${asSpan(targetWaitMs)} of their time${takes}`,
    arriving: `${runs} and ${waits}; ${rate(arrivals.perSecond)} of about ${asSpan(arrivals.eachMs)} arrive, and a worker takes ${asSpan(startDelayMs)} to start${takes}`,
  };
  const limit =
    most !== undefined && desired === Math.max(most, least) && wanted > desired
      ? `; ${counted(wanted, "worker")} would be needed, ${desired} is the declared maximum`
      : desired === least && wanted < least
        ? `; ${least} is the declared minimum`
        : desired > wanted
          ? desired > wantedLately
            ? `; ${up === 1 ? "the one that is there is" : `the ${up} that are there are`} kept until this server has looked for ${asSpan(scaleDownMs)}`
            : `; ${desired} ${desired === 1 ? "was" : "were"} wanted within the last ${asSpan(scaleDownMs)}`
          : "";
  return `${why[need.cause]}${limit}`;
}

function rate(perSecond: number): string {
  return perSecond >= 1
    ? `${perSecond.toFixed(1)} per second`
    : `${(perSecond * 60).toFixed(1)} per minute`;
}

/** `1 worker`, `3 workers`. */
function counted(count: number, thing: string): string {
  return `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;
}

/** `0.4 s`, `12 s`, `5 min`, `3 h`. */
function asSpan(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3_600)} h`;
}
