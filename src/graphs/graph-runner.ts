import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { Fault, messageOf } from "#core/fault.ts";
import { type IdleState, neverIdle, periodMs } from "#core/idle-state.ts";
import type { Service } from "#core/service.ts";
import type { Tx } from "#db/db.ts";
import type { AheadHint } from "#execution/claiming/look-ahead-service.ts";
import type { ExecutionRequest } from "#execution/execution.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { commitLookedAhead } from "./approximations/commit-looked-ahead.ts";
import { lookAhead } from "./approximations/know-ahead.ts";
import { commitPrepared, type PreparedJob, requestsOf } from "./commit-prepared.ts";
import { prepareJob, type SharedPreparation } from "./prepare-job.ts";
import type { InProject } from "./project-of-jobs.ts";
import { keepTaken, postponeJob, type ReadyJob, takeReadyJobs } from "./ready-job.store.ts";

/** The parts of a runner. */
interface GraphRunnerParts extends SharedPreparation {
  readonly inProject: InProject;
  /** The queue's own transaction: executions that are submitted in it are handed out right after the commit. */
  readonly transaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
  /** The queue's function that chooses size classes for executions. No choice when absent. */
  readonly chooseSizes?: (
    requests: readonly ExecutionRequest[],
  ) => Promise<readonly ExecutionRequest[]>;
  /** Gets hints about similar actions that will be requested soon, whose inputs are worth prefetching. */
  readonly hint?: (hint: AheadHint) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly idle?: IdleState | undefined;
}

/** Several lanes, so that one job with a large tree does not delay the others. */
const lanes = 3;
const jobsPerTurn = 16;
const preparedAtOnce = 4;
/**
 * After this time, other servers take over the jobs of a dead one; a live server renews its leases. With a poll, less
 * than 10 s.
 */
const leaseSeconds = 7;
const renewMs = 2_300;
/** Notifications wake the lanes; this poll is a backup. */
const pollMs = 2_000;
const mostTries = 5;

/** Prepares ready jobs and passes them to the queue while it runs. Any number of servers may do so. */
export async function startGraphRunner(parts: GraphRunnerParts): Promise<Service> {
  const idle = parts.idle ?? neverIdle;
  let stopped = false;
  let wakes = 0;
  const sleeping = new Set<() => void>();
  const wake = () => {
    wakes++;
    for (const rise of sleeping) rise();
  };
  /** Waits for the next wake after the one numbered `seen`, so that a wake during a round is not lost. */
  const sleep = (seen: number) =>
    new Promise<void>((resolve) => {
      const rise = () => {
        clearTimeout(timer);
        sleeping.delete(rise);
        resolve();
      };
      const timer = setTimeout(rise, periodMs(idle, pollMs));
      sleeping.add(rise);
      if (wakes > seen) rise();
    });

  const lane = async () => {
    while (!stopped) {
      const seen = wakes;
      const found = await prepareReadyJobs(parts).catch((reason: unknown) => {
        parts.logger.warn(
          { reason: messageOf(reason) },
          "ready jobs could not be prepared; trying again",
        );
        return 0;
      });
      if (found === 0) await sleep(seen);
    }
  };
  const listening = await parts.db.listen("grange_ready", wake);
  const busy = idle.onBusy(wake);
  const running = Array.from({ length: lanes }, lane);
  return {
    async stop() {
      stopped = true;
      wake();
      busy.stop();
      await listening.stop();
      await Promise.all(running);
    },
  };
}

/** One round: takes some ready jobs, prepares them, and stores the outcome. Returns how many it took. */
export async function prepareReadyJobs(parts: GraphRunnerParts): Promise<number> {
  const taken = await takeReadyJobs(parts.db, jobsPerTurn, leaseSeconds);
  if (taken.length === 0) return 0;
  // Importing a large tree for the first time takes longer than a lease.
  const renewing = setInterval(() => {
    keepTaken(parts.db, taken, leaseSeconds).catch(() => {});
  }, renewMs);
  try {
    const blocked = taken.filter(({ isBlocked }) => isBlocked);
    if (blocked.length > 0) await lookAheadOfInputs(parts, blocked);
    const ready = taken.filter(({ isBlocked }) => !isBlocked);
    const over = await mapAtMost(preparedAtOnce, ready, (job) => prepareOrPostpone(parts, job));
    const prepared = over.flatMap((job) => job ?? []);
    if (prepared.length > 0) await store(parts, prepared);
  } finally {
    clearInterval(renewing);
  }
  return taken.length;
}

/** Ends the jobs whose results are the same whichever inputs are found. A failure affects only this lookup. */
async function lookAheadOfInputs(
  parts: GraphRunnerParts,
  blocked: readonly ReadyJob[],
): Promise<void> {
  const looked = await mapAtMost(preparedAtOnce, blocked, (job) =>
    lookAhead(servicesFor(parts, job), job).catch((reason: unknown) => {
      const about = { graph: job.graphId, job: job.job, reason: messageOf(reason) };
      parts.logger.info(
        about,
        "could not look up a job before its inputs were found; they are found first",
      );
      return { job, facts: [], known: undefined, hints: [] };
    }),
  );
  await parts.transaction((tx) => commitLookedAhead(tx, looked));
  for (const hint of looked.flatMap(({ hints }) => hints)) parts.hint?.(hint);
}

function servicesFor(parts: GraphRunnerParts, { project }: ReadyJob) {
  return { ...parts, ...parts.inProject(project) };
}

async function store(parts: GraphRunnerParts, prepared: readonly PreparedJob[]): Promise<void> {
  const { chooseSizes = async (requests) => requests } = parts;
  const requests = await requestsOf(prepared, chooseSizes);
  for (let attempt = 1; ; attempt++) {
    try {
      return await parts.transaction((tx) =>
        commitPrepared(tx, prepared, requests, parts.clock.now()),
      );
    } catch (reason) {
      const again = reason instanceof Fault && reason.code === "aborted" && attempt < mostTries;
      if (again) continue;
      await Promise.all(
        prepared.map(({ job }) =>
          postponeJob(parts.db, job, waitSeconds(job), messageOf(reason)).catch(() => {}),
        ),
      );
      throw reason;
    }
  }
}

async function prepareOrPostpone(
  parts: GraphRunnerParts,
  job: ReadyJob,
): Promise<PreparedJob | undefined> {
  try {
    const services = servicesFor(parts, job);
    // An input was lost; another server may have noticed it, so this server checks its cached
    // selections again.
    if (job.inputLosses > 0) services.inputs.doubt();
    return { job, prepared: await prepareJob(services, job) };
  } catch (reason) {
    if (isOfTheJob(reason, job)) {
      return { job, prepared: { kind: "unpreparable", message: messageOf(reason) } };
    }
    parts.logger.warn(
      { graph: job.graphId, job: job.job, reason: messageOf(reason) },
      "a job could not be prepared; trying again",
    );
    await postponeJob(parts.db, job, waitSeconds(job), messageOf(reason));
    return undefined;
  }
}

/**
 * Returns whether a retry would fail in the same way. A full disk may be emptied; a tree that is too large stays too
 * large.
 */
function isOfTheJob(reason: unknown, job: ReadyJob): boolean {
  if (!(reason instanceof Fault)) return false;
  if (reason.code === "resource_exhausted") return job.failures >= mostTries;
  return ["invalid_argument", "not_found", "failed_precondition", "out_of_range"].includes(
    reason.code,
  );
}

function waitSeconds(job: ReadyJob): number {
  return Math.min(60, 2 ** job.failures);
}
