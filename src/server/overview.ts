import { placesOf } from "#access/places-of.ts";
import { type Principal, wholeFarm } from "#access/principal.ts";
import { mayDo } from "#access/require-grant.ts";
import type { GraphSummary } from "#api/graph.ts";
import type { Overview } from "#api/overview.ts";
import type { Worker } from "#api/worker.ts";
import { cachedFor } from "#core/cached-for.ts";
import { defaultProject } from "#core/default-project.ts";
import type { Db } from "#db/db.ts";
import { queueDepth } from "#execution/claiming/queue-depth.store.ts";
import { unservedExecutions } from "#execution/claiming/unserved-executions.ts";
import { restartedWithinMs } from "#execution/queue-times.ts";
import { savingsSince } from "#granaries/granary-build.store.ts";
import { countQuarantined } from "#granaries/quarantine.store.ts";
import { GraphId } from "#graphs/graph-id.ts";
import { failedJobs } from "#graphs/graph-page.store.ts";
import { listGraphs } from "#graphs/graph-summary.store.ts";
import { failedActionsOf, recentBuilds } from "#invocations/pages/failed-builds.store.ts";
import { newestFailedBuilds } from "#invocations/pages/newest-failed-builds.ts";
import { collectorViews } from "#perf/collectors/collector-views.ts";
import { requestsPage } from "#perf/requests/request-page.store.ts";
import { readStatus } from "#perf/requests/status.ts";
import { declaredOffers } from "#size-classes/declared-classes.ts";
import { workersForPage } from "./list-workers.ts";
import { needsAttention, newestFailures } from "./needs-attention.ts";
import type { Services } from "./services.ts";

/** The number of graphs among which failures are looked for. */
const graphsRead = 100;
const graphsShown = 12;
const failedJobsShown = 3;
const weekMs = 7 * 24 * 60 * 60_000;
/** Failed builds and benchmarks are shown this long. */
const failuresKeptMs = 24 * 60 * 60_000;
/** The number of invocations among which failures are looked for, and of failed ones that are shown. */
const buildsRead = 50;
const failedBuildsShown = 5;
const failedActionsShown = 3;
const requestsRead = 20;

const unservedKindsShown = 5;

type OverviewServices = Pick<Services, "db" | "clock" | "queue" | "labTimes" | "storeStanding">;

/** Many open pages ask at the same time after a change; the farm's part is the same for all of them. */
const farmKeptMs = 2_000;

/**
 * Returns a function that reads what the home page shows, limited to what the caller may read. The part that is the same
 * for all callers is read from the primary.
 */
export function overviewReader(
  services: OverviewServices,
): (reads: Db, caller: Principal) => Promise<Overview> {
  const ms = () => services.clock.now().getTime();
  const farm = cachedFor(farmKeptMs, ms, () => readFarm(services));
  return (reads, caller) => readOverview({ ...services, db: reads }, caller, farm);
}

async function readOverview(
  services: OverviewServices,
  caller: Principal,
  farmRead: () => ReturnType<typeof readFarm>,
): Promise<Overview> {
  const { db } = services;
  const places = placesOf(caller, ["read"]);
  const read = await listGraphs(db, { limit: graphsRead, places });
  const graphs = read.filter(({ parent }) => parent?.kind !== "subgraph");
  const [failed, failedBuilds, farm] = await Promise.all([
    jobsOfFailures(services, newestFailures(graphs, caller.name)),
    readFailedBuilds(services, caller),
    mayDo(caller, "read", wholeFarm) ? farmRead() : undefined,
  ]);
  return {
    attention: needsAttention({
      graphs,
      failedJobs: failed,
      failedBuilds,
      caller: caller.name,
      farm,
    }),
    graphs: graphs.slice(0, graphsShown),
    farm: farm === undefined ? null : { ...slotsOf(farm.workers), ...farm.figures },
  };
}

async function jobsOfFailures(
  { db }: OverviewServices,
  failures: readonly GraphSummary[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = failures.map(async ({ id }): Promise<[string, string[]]> => {
    const jobs = await failedJobs(db, GraphId.parse(id), failedJobsShown);
    return [id, jobs.map(({ name }) => name)];
  });
  return new Map(await Promise.all(found));
}

async function readFailedBuilds({ db, clock }: OverviewServices, caller: Principal) {
  const since = new Date(clock.now().getTime() - failuresKeptMs);
  const places = placesOf(caller, ["read"]);
  const recent = await recentBuilds(db, { since, places, most: buildsRead });
  const failed = newestFailedBuilds(recent, failedBuildsShown);
  return Promise.all(
    failed.map(async ({ project, id, principal, tool, command, patterns, at }) => ({
      kind: "failed build" as const,
      project,
      invocation: id,
      title: [tool === "" ? "a build tool" : tool, command, ...patterns]
        .filter((word) => word !== "")
        .join(" "),
      principal,
      at: at.toISOString(),
      failedActions: await failedActionsOf(db, { project, id }, failedActionsShown),
      isYours: principal === caller.name,
    })),
  );
}

/** Returns the newest ended request of each suite, if something of it failed. */
async function readFailedBenchmarks(db: OverviewServices["db"], since: Date) {
  const requests = await requestsPage(db, {
    suite: undefined,
    state: undefined,
    before: undefined,
    limit: requestsRead,
  });
  const ended = requests.filter(({ endedAt }) => endedAt !== null);
  const newest = ended.filter(
    ({ suite }, at) => ended.findIndex((other) => other.suite === suite) === at,
  );
  return newest.flatMap(({ id, suite, artifact, errors, jobs, state, endedAt }) =>
    (state === "failed" || errors + jobs.failed > 0) &&
    endedAt !== null &&
    Date.parse(endedAt) >= since.getTime()
      ? [
          {
            kind: "failed benchmark" as const,
            request: id,
            suite,
            artifact,
            errors: Math.max(errors, jobs.failed),
            at: endedAt,
          },
        ]
      : [],
  );
}

async function readFarm({ db, clock, queue, labTimes, storeStanding }: OverviewServices) {
  const now = clock.now();
  const failuresSince = new Date(now.getTime() - failuresKeptMs);
  const [workers, unserved, store, quarantinedResults, lab, depth, days, failedBenchmarks] =
    await Promise.all([
      workersForPage(db, now, queue.times.leaseMs),
      readUnserved(db, now),
      storeStanding(),
      countQuarantined(db, defaultProject),
      db.transaction(async (tx) => readStatus(tx, await collectorViews(tx, now, labTimes), now)),
      queueDepth(db),
      savingsSince(db, defaultProject, new Date(now.getTime() - weekMs)),
      readFailedBenchmarks(db, failuresSince),
    ]);
  const sum = (of: (day: (typeof days)[number]) => number) =>
    days.reduce((total, day) => total + of(day), 0);
  return {
    workers,
    unserved,
    store,
    quarantinedResults,
    benchmarkAlarms: lab.alarms,
    failedBenchmarks,
    figures: {
      queued: depth.queued,
      week: {
        requested: sum(({ asked }) => asked),
        hits: sum(({ hits }) => hits),
        savedMs: sum(({ savedMs }) => savedMs),
      },
    },
  };
}

async function readUnserved(db: Db, now: Date) {
  return unservedExecutions(db, {
    seenSince: new Date(now.getTime() - restartedWithinMs),
    declared: await declaredOffers(db),
    mostKinds: unservedKindsShown,
  });
}

/** Lost workers have no slots that work could use. */
function slotsOf(workers: readonly Worker[]) {
  const present = workers.filter(({ state }) => state !== "lost");
  const sum = (of: (worker: Worker) => number) =>
    present.reduce((total, worker) => total + of(worker), 0);
  return {
    workers: present.length,
    slots: sum(({ slots }) => slots),
    busySlots: sum(({ slots, running, endingCount }) =>
      Math.min(slots, running.length + endingCount),
    ),
  };
}
