import type { EndedBenchmarkJob, JobEnd, JobHeartbeatAnswer, JobHolder } from "#api/collector.ts";
import { keepableText } from "#core/keepable-text.ts";
import { caseKey } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { keepAlarms } from "../alarms/lab-alarm.store.ts";
import { notifyBenchmarkChange } from "../change.store.ts";
import { markSilent } from "../collectors/collector.store.ts";
import { noteNewResults } from "../history/note-results.ts";
import type { LabTimes } from "../lab-times.ts";
import { workOfJob } from "../results/job-work.store.ts";
import { reportedCases } from "../results/stored-cases.store.ts";
import { type AfterJob, decideEnd, decideSilence } from "./decide-end.ts";
import { explainRefusal } from "./explain-refusal.ts";
import { jobCases } from "./job-cases.ts";
import {
  extendLease,
  isWaitedFor,
  type JobStanding,
  jobStanding,
  lockSilentJobs,
  lockStanding,
  recordError,
  settleJob,
} from "./leased-job.store.ts";

const longestError = 20_000;
/** The maximum number of leases ended in one transaction. */
const mostSilent = 200;

/** Records a collector's heartbeat. Returns whether its job was cancelled. */
export async function beat(
  tx: Tx,
  id: string,
  holder: JobHolder,
  now: Date,
  times: LabTimes,
): Promise<JobHeartbeatAnswer> {
  const { leaseMs } = times;
  const until = new Date(now.getTime() + leaseMs);
  if ((await extendLease(tx, id, holder, now, until)) !== undefined)
    return { cancelled: false, leaseMs };
  const standing = await jobStanding(tx, id, holder.collector);
  if (standing !== undefined && wasHeld(standing, holder) && standing.state === "cancelled")
    return { cancelled: true, leaseMs };
  throw explainRefusal(id, standing, holder);
}

/** A collector's final report about a job. Repeating it changes nothing and gets the same answer. */
export async function endJob(
  tx: Tx,
  id: string,
  holder: JobHolder,
  ending: JobEnd,
  now: Date,
  times: LabTimes,
): Promise<EndedBenchmarkJob> {
  const held = await lockStanding(tx, id, holder, now);
  if (held === undefined || !wasHeld(held, holder))
    throw explainRefusal(id, await jobStanding(tx, id, holder.collector), holder);
  if (held.state !== "in-progress") return { state: held.state };
  const end =
    "error" in ending ? { ...ending, error: keepableText(ending.error, longestError) } : ending;
  const unreported = end.outcome === "success" ? await unreportedCases(tx, id) : [];
  const job = { ...held, collector: holder.collector };
  const after = decideEnd(job, end, unreported, times.retryAfterMs);
  await settleJob(tx, id, after, now, "holder");
  await publish(tx, { id, ...held }, after, now);
  return { state: after.state };
}

/** The result of a search for silent collectors. */
interface Silence {
  /** Jobs that were requeued from them. */
  readonly jobs: readonly {
    readonly id: string;
    readonly collector: string;
    readonly state: string;
  }[];
  /** Silent collectors that were not reported before. */
  readonly collectors: readonly string[];
}

/**
 * Ends the expired leases of collectors, and returns which collectors went silent since the last call.
 *
 * Later reports of such a collector are refused, because they name an ended lease. Any number of servers may call it.
 */
export async function endSilentLeases(tx: Tx, now: Date, times: LabTimes): Promise<Silence> {
  const jobs: { id: string; collector: string; state: string }[] = [];
  for (const job of await lockSilentJobs(tx, now, mostSilent)) {
    const after = decideSilence(job);
    await settleJob(tx, job.id, after, now, "silence");
    await publish(tx, job, after, now);
    jobs.push({ id: job.id, collector: job.collector, state: after.state });
  }
  const collectors = await markSilent(tx, now, new Date(now.getTime() - times.leaseMs));
  const alarms = collectors.map((collector) => ({ kind: "collector-silent", collector }) as const);
  await keepAlarms(tx, alarms, now);
  if (collectors.length > 0) await notifyBenchmarkChange(tx);
  return { jobs, collectors };
}

/** Whether the row still names this process and this lease. */
function wasHeld(standing: JobStanding, { collector, incarnation, epoch }: JobHolder): boolean {
  return (
    standing.currentIncarnation === incarnation &&
    standing.collector === collector &&
    standing.incarnation === incarnation &&
    standing.epoch === epoch
  );
}

async function publish(
  tx: Tx,
  job: { readonly id: string; readonly artifactId: number; readonly suite: string },
  after: AfterJob,
  now: Date,
): Promise<void> {
  if (after.state === "failure") {
    const whole = { artifactId: job.artifactId, jobId: job.id, caseId: null, benchmark: "" };
    await recordError(tx, { ...whole, message: after.error }, now);
  }
  if (after.state === "success") await noteLateResults(tx, job, now);
  await notifyBenchmarkChange(tx, job.suite);
}

/**
 * Marks the figures of an optional job for examination when they arrived after its requests had ended: while a request
 * waits, the end of the request does that.
 */
async function noteLateResults(
  tx: Tx,
  job: { readonly id: string; readonly artifactId: number },
  now: Date,
): Promise<void> {
  if (!(await isWaitedFor(tx, job.id))) await noteNewResults(tx, [job.artifactId], now);
}

/** Returns the keys of the cases of a job that have neither figures nor an error. */
async function unreportedCases(tx: Tx, jobId: string): Promise<string[]> {
  const work = await workOfJob(tx, jobId);
  if (work === undefined) return [];
  const keys = jobCases(work.definition, work).map(caseKey);
  const reported = await reportedCases(tx, jobId, work);
  return keys.filter((key) => !reported.has(key));
}
