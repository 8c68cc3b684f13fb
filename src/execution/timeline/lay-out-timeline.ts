/** Pure: places runs of workers on their slots, and says why the slots were free between them. Times are in ms. */

interface Period {
  readonly from: number;
  readonly to: number;
}

export interface PositionedRun {
  readonly worker: string;
  readonly leasedAt: number;
  /** Undefined when it never began. */
  readonly startedAt: number | undefined;
  /** The end of the period when it is not over. */
  readonly endedAt: number;
  /** Whether it ended because the worker fell silent. */
  readonly endedLost: boolean;
}

export interface TimelineWorker {
  readonly name: string;
  readonly slots: number;
  /** When its process registered: before, it was not there, unless it has older runs. */
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

/**
 * Gives each run the first lane of its worker that is free, and fills the rest of the period with gaps.
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
  const byWorker = new Map<string, (PositionedRun & { readonly index: number })[]>();
  for (const [index, run] of runs.entries()) {
    const known = byWorker.get(run.worker);
    if (known === undefined) byWorker.set(run.worker, [{ ...run, index }]);
    else known.push({ ...run, index });
  }
  const gaps: Gap[] = [];
  const counts = workers.map((worker) => {
    const own = (byWorker.get(worker.name) ?? []).toSorted((a, b) => a.leasedAt - b.leasedAt);
    const busy: Period[][] = Array.from({ length: Math.max(1, worker.slots) }, () => []);
    for (const run of own) {
      const free = busy.findIndex((lane) => (lane.at(-1)?.to ?? 0) <= run.leasedAt);
      // A worker that had more slots earlier, or whose clock differs.
      const lane = free === -1 ? busy.push([]) - 1 : free;
      busy[lane]?.push({ from: run.leasedAt, to: run.endedAt });
      lanes[run.index] = lane;
    }
    const first = Math.min(worker.registeredAt, own[0]?.leasedAt ?? Number.POSITIVE_INFINITY);
    const present = { from: Math.max(period.from, first), to: period.to };
    const causes = [
      { cause: "lost" as const, periods: lostPeriods(worker, own, period) },
      { cause: "draining" as const, periods: worker.drained },
    ];
    for (const [lane, taken] of busy.entries()) {
      for (const free of between(taken, present)) {
        for (const part of partsOf(free, causes)) gaps.push({ worker: worker.name, lane, ...part });
      }
    }
    return busy.length;
  });
  return { lanes, gaps, counts };
}

/** From the end of an attempt that was lost until the worker's next sign of life, and since it is lost now. */
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

/** Returns what of a period is not taken. The taken parts are in order and do not overlap. */
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

/** Divides a free period by the first cause that holds; the rest had no work. Equal neighbours are joined. */
function partsOf(
  free: Period,
  causes: readonly { readonly cause: Cause; readonly periods: readonly Period[] }[],
): (Period & { readonly cause: Cause })[] {
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

/**
 * Returns when a worker was drained, from the changes of the drains that fit its name, oldest first.
 *
 * An end without a begin: it began before the period. A begin without an end lasts until the end of the period.
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
