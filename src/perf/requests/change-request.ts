import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import type { Db, Tx } from "#db/db.ts";
import { notifyBenchmarkChange } from "../change.store.ts";
import { noteNewResults } from "../history/note-results.ts";
import { lockSuite, type StoredSuite } from "../suites.store.ts";
import { artifactsById, type StoredArtifact } from "./artifact.store.ts";
import { type Answered, createOrExtendRequest } from "./create-or-extend-request.ts";
import {
  type BenchmarkRequestId,
  changeState,
  findRequest,
  type StoredRequest,
} from "./request.store.ts";
import { cancelJobs, jobsOfRequest } from "./request-job.store.ts";
import { hasEnded, nextState } from "./request-states.ts";
import { componentsOf, noSuite, type SubmitServices, withTarballs } from "./submit-request.ts";

type Recording = (tx: Tx) => Promise<void>;

/** Ends a request together with its open jobs. A repeated cancellation changes nothing. */
export async function cancelRequest(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  id: BenchmarkRequestId,
  by: string,
  record: Recording,
): Promise<void> {
  await underLock(db, id, async (tx, suite, request) => {
    if (request.state === "cancelled") return;
    const to = nextState(request.state, "cancelled");
    if (to === undefined) {
      throw new Fault(
        "failed_precondition",
        `benchmark request ${id} is already ${request.state}, and cannot be changed`,
      );
    }
    const now = clock.now();
    await changeState(tx, id, request.state, to, now, by);
    await cancelJobs(tx, id, now);
    // Existing measurements stay.
    const measured = [request.artifactId, ...[request.parentId ?? []].flat()];
    await noteNewResults(tx, measured, now);
    await record(tx);
    await notifyBenchmarkChange(tx, suite.name);
  });
}

/** Records that the artifacts of a request exist; for tarballs, also their addresses. */
export async function artifactsReady(
  services: SubmitServices,
  id: BenchmarkRequestId,
  tarballs: Readonly<Record<string, string>>,
  record: Recording,
): Promise<void> {
  const { db } = services;
  const before = await findRequest(db, id);
  const digests = Object.values(tarballs);
  if (before !== undefined && before.state === "waiting-for-artifacts") {
    const [artifact] = await artifactsById(db, [before.artifactId]);
    digests.push(
      ...Object.values(artifact?.components ?? {}).flatMap((each) =>
        each.kind === "blob" ? [each.digest] : [],
      ),
    );
  }
  const missing = await services.missingBlobs(digests);
  if (missing.length > 0) {
    throw new Fault(
      "failed_precondition",
      `the farm does not have ${missing.join(", ")}: upload the tarballs first`,
    );
  }
  await underLock(db, id, async (tx, suite, request) => {
    const artifact = await artifactOf(tx, request);
    const given = componentsOf(suite.definition, tarballs);
    const now = await withTarballs(tx, artifact, given);
    if (request.state !== "waiting-for-artifacts") {
      // The report is a repetition, or the farm itself has found the artifacts meanwhile.
      if (!hasEnded(request.state)) return;
      throw new Fault(
        "failed_precondition",
        `benchmark request ${id} is already ${request.state}, and cannot be changed`,
      );
    }
    if (Object.keys(now.components).length === 0) {
      throw new Fault(
        "failed_precondition",
        `the farm does not know where to get ${artifact.tag}: send a tarball for each backend with the call`,
      );
    }
    await changeState(tx, id, request.state, "artifacts-ready", services.clock.now());
    await record(tx);
    await notifyBenchmarkChange(tx, suite.name);
  });
}

/** Requests the missing results of an ended request again; existing results stay, and are not measured twice. */
export async function retryRequest(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  id: BenchmarkRequestId,
  by: string,
  record: (tx: Tx, answered: Answered) => Promise<void>,
): Promise<Answered> {
  return underLock(db, id, async (tx, suite, request) => {
    if (!hasEnded(request.state)) {
      throw new Fault(
        "failed_precondition",
        `benchmark request ${id} is ${request.state}: it can be requested again when it has ended`,
      );
    }
    const artifact = await artifactOf(tx, request);
    const [parent] = request.parentId === null ? [] : await artifactsById(tx, [request.parentId]);
    const answered = await createOrExtendRequest(
      tx,
      suite,
      {
        ...request,
        artifact,
        parent,
        waitForArtifacts: Object.keys(artifact.components).length === 0,
        parents: "none",
        by,
        because: `request ${id.slice(0, 8)} of it ${await whatWentWrong(tx, request)}`,
      },
      clock.now(),
    );
    await record(tx, answered);
    return answered;
  });
}

async function whatWentWrong(tx: Tx, { id, state }: StoredRequest): Promise<string> {
  if (state === "cancelled") return "was cancelled";
  const failed = (await jobsOfRequest(tx, id)).filter((job) => job.state === "failure").length;
  if (failed === 0) return `${state} without all requested figures`;
  return `had ${failed === 1 ? "1 job" : `${failed} jobs`} that failed`;
}

async function artifactOf(tx: Tx, request: StoredRequest): Promise<StoredArtifact> {
  const [artifact] = await artifactsById(tx, [request.artifactId]);
  if (artifact !== undefined) return artifact;
  throw new Fault("internal", `the artifact of benchmark request ${request.id} is gone`);
}

/** The suite's lock is always taken first, in every transaction that changes its requests. */
async function underLock<T>(
  db: Db,
  id: BenchmarkRequestId,
  work: (tx: Tx, suite: StoredSuite, request: StoredRequest) => Promise<T>,
): Promise<T> {
  return db.transaction(async (tx) => {
    const found = await findRequest(tx, id);
    if (found === undefined) throw new Fault("not_found", `there is no benchmark request ${id}`);
    const suite = await lockSuite(tx, found.suite);
    if (suite === undefined) throw await noSuite(tx, found.suite);
    const request = (await findRequest(tx, id)) ?? found;
    return work(tx, suite, request);
  });
}
