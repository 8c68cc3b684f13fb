/** A part of the timeline; times are in ms. */
interface Period {
  readonly from: number;
  readonly to: number;
}

export interface PositionedRun {
  readonly worker: string;
  readonly leasedAt: number;
  /** Undefined when it never began. */
  readonly startedAt: number | undefined;
  /** The end of the timeline if the run is still in progress. */
  readonly endedAt: number;
  /** Whether it ended because the worker fell silent. */
  readonly endedLost: boolean;
}

export interface TimelineWorker {
  readonly name: string;
  readonly slots: number;
  /** When its process registered. Its lanes begin here, or at its oldest run if that is earlier. */
  readonly registeredAt: number;
  readonly lastSeenAt: number;
  readonly isLost: boolean;
  readonly drained: readonly Period[];
}

type Cause = "no work" | "draining" | "lost";

export interface Gap extends Period {
  readonly worker: string;
  readonly lane: number;
  readonly cause: Cause;
}

interface LaidOut {
  /** The lane of each run, in their order. */
  readonly lanes: readonly number[];
  readonly gaps: readonly Gap[];
  /** The number of lanes of each worker, in their order. */
  readonly counts: readonly number[];
}

/** Gives each run the first free lane (slot) of its worker, and describes the rest of the period as gaps with a cause.
 *
 * A farm keeps no history of a worker's state. What is known: attempts that ended because the worker was lost, when it
 * registered and was last seen, and when it was drained. A slot that is free without any of these had no work.
 */
export function layOutTimeline(
  period: Period,
  workers: readonly TimelineWorker[],
  runs: readonly PositionedRun[],
): LaidOut {
  const lanes = runs.map(() => 0);
  const byWorker = new Map<string, { readonly run: PositionedRun; readonly index: number }[]>();
  for (const [index, run] of runs.entries()) {
    const known = byWorker.get(run.worker);
    if (known === undefined) byWorker.set(run.worker, [{ run, index }]);
    else known.push({ run, index });
  }
  const gaps: Gap[] = [];
  const counts = workers.map((worker) => {
    const inOrder = (byWorker.get(worker.name) ?? []).toSorted(
      (a, b) => a.run.leasedAt - b.run.leasedAt,
    );
    const own = inOrder.map(({ run }) => run);
    const busy: Period[][] = Array.from({ length: Math.max(1, worker.slots) }, () => []);
    for (const { run, index } of inOrder) {
      const free = busy.findIndex((lane) => (lane.at(-1)?.to ?? 0) <= run.leasedAt);
      // A worker that had more slots earlier, or whose clock differs.
      const lane = free === -1 ? busy.push([]) - 1 : free;
      busy[lane]?.push({ from: run.leasedAt, to: run.endedAt });
      lanes[index] = lane;
    }
    const first = Math.min(worker.registeredAt, own[0]?.leasedAt ?? Number.POSITIVE_INFINITY);
    const present = { from: Math.max(period.from, first), to: period.to };
    const causes = [
      { cause: "lost" as const, periods: lostPeriods(worker, own, period) },
      { cause: "draining" as const, periods: worker.drained },
    ].filter(({ periods }) => periods.length > 0);
    for (const [lane, taken] of busy.entries()) {
      for (const free of between(taken, present)) {
        for (const part of partsOf(free, causes)) gaps.push({ worker: worker.name, lane, ...part });
      }
    }
    return busy.length;
  });
  return { lanes, gaps, counts };
}

/**
 * Returns the periods in which a worker was lost: each from the end of a lost attempt to the worker's next registration
 * or lease. If the worker is lost at present, the last period begins when it was last seen.
 */
function lostPeriods(
  worker: TimelineWorker,
  own: readonly PositionedRun[],
  { to }: Period,
): Period[] {
  const signs = [worker.registeredAt, ...own.map(({ leasedAt }) => leasedAt)].toSorted(
    (a, b) => a - b,
  );
  const earlier = own
    .filter(({ endedLost }) => endedLost)
    .map(({ endedAt }) => ({
      from: endedAt,
      to: signs.find((sign) => sign >= endedAt) ?? (worker.isLost ? to : endedAt),
    }));
  return worker.isLost ? [...earlier, { from: worker.lastSeenAt, to }] : earlier;
}

/** Returns the free parts of a period. The taken parts are in order and do not overlap. */
function between(taken: readonly Period[], { from, to }: Period): Period[] {
  const free: Period[] = [];
  let at = from;
  for (const each of taken) {
    if (each.from > at) free.push({ from: at, to: Math.min(each.from, to) });
    at = Math.max(at, each.to);
  }
  if (at < to) free.push({ from: at, to });
  return free.filter((each) => each.to > each.from);
}

/**
 * Divides a free period into parts with one cause each: the first cause of the list whose periods contain the part, or
 * else "no work". Neighbouring parts with the same cause are joined.
 */
function partsOf(
  free: Period,
  causes: readonly { readonly cause: Cause; readonly periods: readonly Period[] }[],
): (Period & { readonly cause: Cause })[] {
  // Nearly always, and there are as many gaps as runs.
  if (causes.length === 0) return [{ from: free.from, to: free.to, cause: "no work" }];
  const bounds = causes
    .flatMap(({ periods }) => periods.flatMap(({ from, to }) => [from, to]))
    .filter((time) => time > free.from && time < free.to);
  const times = [free.from, ...new Set(bounds.toSorted((a, b) => a - b)), free.to];
  const parts: (Period & { readonly cause: Cause })[] = [];
  for (const [n, from] of times.slice(0, -1).entries()) {
    const to = times[n + 1] ?? free.to;
    const cause =
      causes.find(({ periods }) => periods.some((each) => each.from <= from && each.to >= to))
        ?.cause ?? "no work";
    const last = parts.at(-1);
    if (last?.cause === cause) parts[parts.length - 1] = { from: last.from, to, cause };
    else parts.push({ from, to, cause });
  }
  return parts;
}

interface DrainChange {
  readonly at: number;
  readonly isBegin: boolean;
}

/** Returns the periods in which a worker was drained, computed from the changes of the drains that match its name, oldest
 * first.
 *
 * An end without a begin belongs to a drain that began before the period. A drain without an end lasts until the end of
 * the period.
 */
export function drainedPeriods(changes: readonly DrainChange[], period: Period): Period[] {
  const periods: Period[] = [];
  let began: number | undefined;
  for (const { at, isBegin } of changes) {
    if (isBegin) began ??= at;
    else {
      periods.push({ from: began ?? period.from, to: at });
      began = undefined;
    }
  }
  return began === undefined ? periods : [...periods, { from: began, to: period.to }];
}
