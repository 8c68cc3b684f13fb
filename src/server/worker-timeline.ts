import { auditLog } from "#access/audit.store.ts";
import type { WorkerTimeline } from "#api/worker-timeline.ts";
import { fitsStars } from "#core/star-pattern.ts";
import type { Db } from "#db/db.ts";
import { listDrains } from "#execution/claiming/drain.store.ts";
import { type ListedWorker, listWorkers } from "#execution/leasing/worker.store.ts";
import {
  drainedPeriods,
  type Gap,
  layOutTimeline,
  type TimelineWorker,
} from "#execution/timeline/lay-out-timeline.ts";
import { type TimelineRun, timelineRuns } from "#execution/timeline/timeline-runs.store.ts";
import { jobsOfExecutions } from "#graphs/jobs-of-executions.store.ts";
import { labelsOfExecutions } from "#invocations/pages/labels-of-executions.store.ts";

/** Changes of drains are among the administrator's latest actions. */
const mostChanges = 2_000;

interface Wanted {
  readonly now: Date;
  readonly leaseMs: number;
  /** The length of the period, which ends now. */
  readonly backMs: number;
  readonly mostRuns: number;
}

interface Period {
  readonly from: number;
  readonly to: number;
}

/** Reads what workers did in a period until now, and why their slots were free. */
export async function readWorkerTimeline(db: Db, wanted: Wanted): Promise<WorkerTimeline> {
  const { now, leaseMs, backMs, mostRuns } = wanted;
  const since = new Date(now.getTime() - backMs);
  const [runs, workers, drains, changes] = await Promise.all([
    // One more, to know whether there are more.
    timelineRuns(db, since, mostRuns + 1),
    listWorkers(db),
    listDrains(db),
    auditLog(db, {
      before: undefined,
      actor: undefined,
      verb: "administer",
      since,
      most: mostChanges,
    }),
  ]);
  const isCut = runs.length > mostRuns;
  const shown = runs.slice(0, mostRuns);
  const labels = await labelsOf(db, shown);
  const begin = since.getTime();
  const period = { from: isCut ? (shown.at(-1)?.finishedAt ?? begin) : begin, to: now.getTime() };
  const changed = changes.toReversed().flatMap(({ at, detail }) => {
    const what = detail["what"];
    if (what !== "drain workers" && what !== "end drain") return [];
    const change = { at: Date.parse(at), isBegin: what === "drain workers" };
    return [{ pattern: String(detail["pattern"]), ...change }];
  });
  const present = workers.map(
    (worker): TimelineWorker => ({
      name: worker.name,
      slots: worker.slots,
      registeredAt: worker.registeredAt.getTime(),
      lastSeenAt: worker.lastSeenAt.getTime(),
      isLost: now.getTime() - worker.lastSeenAt.getTime() > (worker.leaseMs ?? leaseMs),
      drained: drainedNow(worker, drains, changed, period),
    }),
  );
  return answerOf(period, present, shown, { labels, isCut });
}

function drainedNow(
  worker: ListedWorker,
  drains: Awaited<ReturnType<typeof listDrains>>,
  changed: readonly {
    readonly pattern: string;
    readonly at: number;
    readonly isBegin: boolean;
  }[],
  period: Period,
): Period[] {
  const fits = ({ pattern }: { readonly pattern: string }) =>
    fitsStars(pattern.split("*"), worker.name);
  const ended = drainedPeriods(changed.filter(fits), period);
  const lasting = drains
    .filter(fits)
    .map(({ createdAt }) => ({ from: createdAt.getTime(), to: period.to }));
  // The worker itself reported that it takes no new jobs, for example because it stops. Since when is not known.
  const own =
    worker.draining && lasting.length === 0
      ? [{ from: worker.lastSeenAt.getTime(), to: period.to }]
      : [];
  return [...ended, ...lasting, ...own];
}

async function labelsOf(
  db: Db,
  runs: readonly TimelineRun[],
): Promise<ReadonlyMap<string, string>> {
  const [jobs, actions] = await Promise.all([
    jobsOfExecutions(
      db,
      runs.map(({ execution, invocation }) => ({ execution, graph: invocation })),
    ),
    labelsOfExecutions(
      db,
      runs.map(({ execution }) => execution),
    ),
  ]);
  return new Map([...actions, ...jobs]);
}

/** Pure: the answer in columns, with times relative to the begin of the period. */
function answerOf(
  period: Period,
  workers: readonly TimelineWorker[],
  shown: readonly TimelineRun[],
  rest: { readonly labels: ReadonlyMap<string, string>; readonly isCut: boolean },
): WorkerTimeline {
  const places = new Map(workers.map(({ name }, index) => [name, index]));
  // Workers that are forgotten have no row.
  const runs = shown.filter(({ worker }) => places.has(worker));
  const within = (time: number) => Math.min(Math.max(time, period.from), period.to);
  const placed = runs.map((run) => ({
    worker: run.worker,
    leasedAt: within(run.leasedAt),
    startedAt: run.startedAt === null ? undefined : within(run.startedAt),
    endedAt: run.finishedAt === null ? period.to : within(run.finishedAt),
    endedLost: run.outcome === "worker_lost",
  }));
  const { lanes, gaps, counts } = layOutTimeline(period, workers, placed);
  const sums = workers.map(({ name }, index) => ({
    name,
    lanes: counts[index] ?? 1,
    executingMs: 0,
    inputMs: 0,
    noWorkMs: 0,
    drainingMs: 0,
    lostMs: 0,
  }));
  for (const { worker, leasedAt, startedAt, endedAt } of placed) {
    const sum = sums[places.get(worker) ?? -1];
    if (sum === undefined) continue;
    sum.inputMs += (startedAt ?? endedAt) - leasedAt;
    sum.executingMs += endedAt - (startedAt ?? endedAt);
  }
  for (const { worker, from, to, cause } of gaps) {
    const sum = sums[places.get(worker) ?? -1];
    if (sum !== undefined) sum[sumOfCause[cause]] += to - from;
  }
  const names = [...new Set(runs.map(({ execution }) => rest.labels.get(execution) ?? ""))];
  const numberOf = new Map(names.map((name, index) => [name, index]));
  return {
    from: new Date(period.from).toISOString(),
    to: new Date(period.to).toISOString(),
    isCut: rest.isCut,
    workers: sums,
    labels: names,
    runs: {
      execution: runs.map(({ execution }) => execution),
      worker: runs.map(({ worker }) => places.get(worker) ?? 0),
      lane: [...lanes],
      label: runs.map(({ execution }) => numberOf.get(rest.labels.get(execution) ?? "") ?? 0),
      leasedMs: placed.map(({ leasedAt }) => leasedAt - period.from),
      startedMs: placed.map(({ startedAt }) =>
        startedAt === undefined ? null : startedAt - period.from,
      ),
      endedMs: placed.map(({ endedAt }) => endedAt - period.from),
      outcome: runs.map(({ outcome }) => outcome),
    },
    gaps: columnsOf(gaps, places, period.from),
  };
}

const sumOfCause = { "no work": "noWorkMs", draining: "drainingMs", lost: "lostMs" } as const;

function columnsOf(
  gaps: readonly Gap[],
  places: ReadonlyMap<string, number>,
  begin: number,
): WorkerTimeline["gaps"] {
  return {
    worker: gaps.map(({ worker }) => places.get(worker) ?? 0),
    lane: gaps.map(({ lane }) => lane),
    fromMs: gaps.map(({ from }) => from - begin),
    toMs: gaps.map(({ to }) => to - begin),
    cause: gaps.map(({ cause }) => cause),
  };
}
