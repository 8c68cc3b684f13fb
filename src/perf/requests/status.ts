import type { BenchmarkStatus } from "#api/benchmark-history.ts";
import type { Estimate, RequestDetail } from "#api/benchmark-request.ts";
import type { CollectorView } from "#api/collector.ts";
import type { Tx } from "#db/db.ts";
import { allSuites, type StoredSuite } from "../suites.store.ts";
import { alarmsOf } from "./alarms.ts";
import { artifactsById } from "./artifact.store.ts";
import {
  estimateRequests,
  type JobAhead,
  lanesOf,
  medianDurations,
  type RequestAhead,
} from "./estimate-requests.ts";
import {
  durationsOfLike,
  type JobLike,
  lastMovements,
  type OpenJob,
  openJobs,
} from "./job-duration.store.ts";
import { orderRequests, type Placed } from "./order-requests.ts";
import { ownJobs } from "./plan-request.ts";
import { type BenchmarkRequestId, type OpenRequest, openRequests } from "./request.store.ts";
import {
  endedLately,
  errorsForPage,
  hasReport,
  type JobRow,
  jobsForPage,
  requestSummaries,
} from "./request-page.store.ts";
import { unservedPlaces, unservedText } from "./unserved-places.ts";

const recentRequests = 20;

interface Queue {
  readonly suites: readonly StoredSuite[];
  readonly placed: readonly Placed<OpenRequest>[];
  readonly jobs: readonly OpenJob[];
  readonly estimates: ReadonlyMap<string, Estimate>;
}

const unknown: Estimate = { startsAt: null, endsAt: null, leastEndsAt: null, mostEndsAt: null };

/** Returns the queues of all suites, with the estimated start and end of each request. A fixed number of statements. */
async function readQueue(tx: Tx, collectors: readonly CollectorView[], now: Date): Promise<Queue> {
  const suites = await allSuites(tx);
  const open = await openRequests(tx);
  const placed = suites.flatMap(({ name }) =>
    orderRequests(open.filter(({ suite }) => suite === name)),
  );
  const jobs = await openJobs(tx);
  const artifacts = new Map(
    (
      await artifactsById(
        tx,
        open.map(({ artifactId }) => artifactId),
      )
    ).map((artifact) => [artifact.id, artifact]),
  );
  const jobsOf = groupBy(jobs, ({ requestId }) => requestId);
  const plans = new Map<string, JobAhead[]>();
  const ahead: RequestAhead[] = placed.map(({ request }) => ({
    id: request.id,
    suite: request.suite,
    startedAt: request.startedAt,
    jobs:
      request.state === "in-progress"
        ? (jobsOf.get(request.id) ?? []).map((job) => ({ ...job, pairs: isPairs(job.purpose) }))
        : request.state === "artifacts-ready"
          ? plannedJobs(request)
          : undefined,
  }));

  function plannedJobs(request: OpenRequest): JobAhead[] {
    const suite = suites.find(({ name }) => name === request.suite);
    const artifact = artifacts.get(request.artifactId);
    if (suite === undefined || artifact === undefined) return [];
    const { backends, profiles, targets, benchmarks, paired } = request;
    const has = Object.keys(artifact.components);
    // Months of the main line request the same work for artifacts with the same components.
    const key = JSON.stringify([suite.name, backends, profiles, targets, benchmarks, paired, has]);
    const known = plans.get(key);
    if (known !== undefined) return known;
    const own = ownJobs(suite.definition, request, artifact);
    const planned = [false, ...(paired && request.parentId !== null ? [true] : [])].flatMap(
      (pairs) => own.map((job) => ({ ...job, suite: suite.name, pairs, startedAt: null })),
    );
    plans.set(key, planned);
    return planned;
  }

  const likes = new Map<string, JobLike>();
  for (const job of ahead.flatMap((request) => request.jobs ?? [])) {
    const { suite, section, target, backend, profile, set, pairs } = job;
    const like = { suite, section, target, backend, profile, set, pairs };
    likes.set(JSON.stringify(like), like);
  }
  const usual = medianDurations(await durationsOfLike(tx, [...likes.values()]));
  const atOnce = new Map(suites.map(({ name, definition }) => [name, definition.requestsAtOnce]));
  const estimates = estimateRequests(
    ahead,
    usual,
    lanesOf(collectors),
    (suite) => atOnce.get(suite) ?? 1,
    now,
  );
  return { suites, placed, jobs, estimates };
}

export async function readStatus(
  tx: Tx,
  collectors: readonly CollectorView[],
  now: Date,
): Promise<BenchmarkStatus> {
  const { suites, placed, jobs, estimates } = await readQueue(tx, collectors, now);
  const summaries = await requestSummaries(
    tx,
    placed.map(({ request }) => request.id),
  );
  const summaryOf = new Map(summaries.map((summary) => [summary.id, summary]));
  const moved = await lastMovements(tx);
  return {
    at: now.toISOString(),
    queue: placed.flatMap(({ request, place, because }) => {
      const summary = summaryOf.get(request.id);
      if (summary === undefined) return [];
      return [{ request: summary, place, because, estimate: estimates.get(request.id) ?? unknown }];
    }),
    recent: await endedLately(tx, recentRequests),
    collectors: [...collectors],
    alarms: alarmsOf(
      {
        collectors,
        jobs,
        requests: placed.map(({ request }) => request),
        movedAt: new Map(moved.flatMap(({ suite, at }) => (at === null ? [] : [[suite, at]]))),
        failedSources: suites.flatMap(({ name, lookFailed }) =>
          lookFailed === null ? [] : [{ suite: name, failed: lookFailed }],
        ),
      },
      now,
    ),
  };
}

export async function readRequest(
  tx: Tx,
  id: BenchmarkRequestId,
  collectors: readonly CollectorView[],
  now: Date,
): Promise<RequestDetail | undefined> {
  const [summary] = await requestSummaries(tx, [id]);
  if (summary === undefined) return undefined;
  const jobs = await jobsForPage(tx, id);
  const likes = jobs.map((job) => likeOf(summary.suite, job));
  const usual = medianDurations(await durationsOfLike(tx, distinct(likes)));
  const queue = summary.endedAt === null ? await readQueue(tx, collectors, now) : undefined;
  const place = queue?.placed.find(({ request }) => request.id === id);
  return {
    ...summary,
    jobList: jobs.map((job) => ({
      ...job,
      usualSeconds: usual(likeOf(summary.suite, job))?.seconds ?? null,
    })),
    errorList: await errorsForPage(tx, id),
    place: place?.place ?? null,
    placeBecause: place?.because ?? null,
    estimate: queue?.estimates.get(id) ?? {
      ...unknown,
      startsAt: summary.startedAt,
      endsAt: summary.endedAt,
    },
    hasReport: await hasReport(tx, id),
    unserved: unservedPlaces(collectors, jobs).map(unservedText),
  };
}

function likeOf(suite: string, job: JobRow): JobLike {
  const { section, target, backend, profile, set, purpose } = job;
  return { suite, section, target, backend, profile, set, pairs: isPairs(purpose) };
}

function distinct(likes: readonly JobLike[]): JobLike[] {
  return [...new Map(likes.map((like) => [JSON.stringify(like), like])).values()];
}

function isPairs(purpose: JobRow["purpose"]): boolean {
  return purpose === "paired" || purpose === "confirm";
}

function groupBy<T, K>(all: readonly T[], keyOf: (each: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const each of all) {
    const group = groups.get(keyOf(each));
    if (group === undefined) groups.set(keyOf(each), [each]);
    else group.push(each);
  }
  return groups;
}
