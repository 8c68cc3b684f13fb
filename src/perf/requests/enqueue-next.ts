import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { notifyBenchmarkChange } from "../change.store.ts";
import { lockSuite } from "../suites.store.ts";
import { artifactsById } from "./artifact.store.ts";
import { fillRequest } from "./fill-request.ts";
import { orderRequests } from "./order-requests.ts";
import { ownJobs } from "./plan-request.ts";
import { type BenchmarkRequestId, changeState, openRequests } from "./request.store.ts";
import { jobsWaiting } from "./request-job.store.ts";
import { whichToStart } from "./which-to-start.ts";

/**
 * Starts the next request: inserts all its jobs and sets it to in progress, or does neither.
 *
 * `onChosen` gets the request before anything can fail. Undefined: no request may start now.
 */
export async function enqueueNext(
  tx: Tx,
  name: string,
  now: Date,
  skipped: ReadonlySet<string>,
  onChosen: (id: BenchmarkRequestId) => void = () => {},
): Promise<BenchmarkRequestId | undefined> {
  const suite = await lockSuite(tx, name);
  if (suite === undefined) return undefined;
  const open = (await openRequests(tx, name)).filter(({ id }) => !skipped.has(id));
  if (!open.some(({ state }) => state === "artifacts-ready")) return undefined;
  const isAlone = suite.definition.requestsAtOnce === 1;
  const waiting = isAlone ? [] : await jobsWaiting(tx, name);
  const artifacts = isAlone
    ? []
    : await artifactsById(
        tx,
        open.map(({ artifactId }) => artifactId),
      );
  const next = whichToStart(
    orderRequests(open),
    suite.definition.requestsAtOnce,
    waiting,
    (request) => {
      const artifact = artifacts.find(({ id }) => id === request.artifactId);
      if (artifact === undefined) return [];
      return ownJobs(suite.definition, request, artifact).filter(({ optional }) => !optional);
    },
  );
  if (next === undefined) return undefined;
  onChosen(next.id);
  if (!(await changeState(tx, next.id, "artifacts-ready", "in-progress", now))) {
    throw new Fault("aborted", `benchmark request ${next.id} was changed at the same time`);
  }
  await fillRequest(tx, suite, next, now);
  await notifyBenchmarkChange(tx, name);
  return next.id;
}
