import type { Tx } from "#db/db.ts";
import { notifyBenchmarkChange } from "../change.store.ts";
import { lockSuite } from "../suites.store.ts";
import { confirmingJobs } from "./plan-request.ts";
import { type BenchmarkRequestId, changeState, findRequest } from "./request.store.ts";
import { requestConsequence } from "./request-consequence.ts";
import type { RequestHooks } from "./request-hooks.ts";
import { endUntakenJobs, insertJobs, jobsOfRequest } from "./request-job.store.ts";
import { nextState } from "./request-states.ts";

/**
 * Ends a request whose jobs have all ended, with its report; or, once, requests a new measurement of doubtful verdicts.
 * The suite is locked, so no jobs are added meanwhile.
 */
export async function endRequest(
  tx: Tx,
  suiteName: string,
  id: BenchmarkRequestId,
  hooks: RequestHooks,
  now: Date,
): Promise<"ended" | "confirms" | "goes-on"> {
  const suite = await lockSuite(tx, suiteName);
  const request = await findRequest(tx, id);
  if (suite === undefined || request?.state !== "in-progress") return "goes-on";
  const follows = requestConsequence(request.artifactId, await jobsOfRequest(tx, id));
  if (follows === "wait") return "goes-on";
  if (follows === "confirm-doubtful" && request.parentId !== null) {
    const doubts = await hooks.changesToConfirm(tx, id);
    const jobs = confirmingJobs(suite.definition, doubts, request.artifactId, request.parentId);
    if (jobs.length > 0) {
      await insertJobs(tx, id, jobs, {
        suiteDigest: suite.digest,
        maxAttempts: suite.definition.maxAttempts,
        now,
      });
      await notifyBenchmarkChange(tx, suiteName);
      return "confirms";
    }
  }
  const event = follows === "ended-without-results" ? follows : "ended";
  const to = nextState(request.state, event);
  if (to === undefined || !(await changeState(tx, id, request.state, to, now))) return "goes-on";
  await endUntakenJobs(tx, id, now);
  await hooks.makeReport(tx, id, now);
  await notifyBenchmarkChange(tx, suiteName);
  return "ended";
}
