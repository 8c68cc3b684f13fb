import { randomUUID } from "node:crypto";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { notifyBenchmarkChange } from "../change.store.ts";
import type { StoredSuite } from "../suites.store.ts";
import { ancestorsOf, type StoredArtifact } from "./artifact.store.ts";
import { fillRequest } from "./fill-request.ts";
import { isSameRequest, mergeRequests } from "./merge-requests.ts";
import { defaultParentDays, missingParents, mostParents } from "./missing-parents.ts";
import { ownJobs, type Request } from "./plan-request.ts";
import {
  BenchmarkRequestId,
  insertRequest,
  type StoredRequest,
  unendedRequest,
  widenRequest,
} from "./request.store.ts";

/** A request by a person, or by the farm itself, to measure an artifact. */
interface Requested extends Request {
  readonly artifact: StoredArtifact;
  /** Undefined: the default parent. Null: there is no comparison, and no parent is measured. */
  readonly parent: StoredArtifact | null | undefined;
  readonly kind: StoredRequest["kind"];
  readonly pr: number | null;
  readonly waitForArtifacts: boolean;
  readonly parents: "missing" | "none" | "alone";
  readonly by: string;
  readonly because: string;
}

export interface Answered {
  readonly id: BenchmarkRequestId;
  readonly outcome: "created" | "added" | "nothing-missing";
  readonly sentence: string;
  readonly parents: readonly string[];
}

const nothingRequested = { backends: [], profiles: [], targets: [], benchmarks: [] };

/**
 * Creates a request, or extends the open one of its artifact, in the caller's transaction.
 *
 * The caller holds the suite's lock (`lockSuite`).
 */
export async function createOrExtendRequest(
  tx: Tx,
  suite: StoredSuite,
  requested: Requested,
  now: Date,
): Promise<Answered> {
  const { artifact } = requested;
  const canWait = requested.waitForArtifacts;
  if (!canWait && ownJobs(suite.definition, requested, artifact).length === 0) {
    throw new Fault("failed_precondition", nothingToMeasure(suite, artifact, requested));
  }
  const open = await unendedRequest(tx, artifact.id);
  if (open !== undefined) return addTo(tx, suite, open, requested, now);

  const parentId = parentIdOf(requested);
  const id = BenchmarkRequestId.parse(randomUUID());
  await insertRequest(tx, {
    ...wordsOf(requested),
    id,
    suite: suite.name,
    artifactId: artifact.id,
    parentId,
    kind: requested.kind,
    pr: requested.pr,
    state: canWait ? "waiting-for-artifacts" : "artifacts-ready",
    requestedBy: requested.by,
    because: requested.because,
    createdAt: now,
  });
  const parents =
    requested.parents !== "missing" || parentId === null
      ? []
      : await askForParents(tx, suite, requested, parentId, now);
  await notifyBenchmarkChange(tx, suite.name);
  const first = parents.length === 0 ? "" : ` ${parentsText(parents)}`;
  return {
    id,
    outcome: "created",
    sentence: canWait
      ? `${artifact.tag} will be measured when its artifacts exist.${first}`
      : `${artifact.tag} is in the queue.${first}`,
    parents,
  };
}

async function addTo(
  tx: Tx,
  suite: StoredSuite,
  open: StoredRequest,
  requested: Requested,
  now: Date,
): Promise<Answered> {
  const { tag } = requested.artifact;
  if (requested.parent && open.parentId !== null && requested.parent.id !== open.parentId) {
    throw new Fault(
      "failed_precondition",
      `${tag} is being measured, but compared with another artifact than ${requested.parent.tag}; wait for its end, or cancel request ${open.id}`,
    );
  }
  const wanted = mergeRequests(suite.definition, open, requested);
  const wider = {
    ...open,
    ...wanted,
    pr: open.pr ?? requested.pr,
    parentId: open.parentId ?? parentIdOf(requested),
  };
  const isWider =
    !isSameRequest(open, wanted) || wider.pr !== open.pr || wider.parentId !== open.parentId;
  if (isWider) await widenRequest(tx, open.id, { ...wider, ...wordsOf(wanted) });
  const inserted =
    open.state === "in-progress" && isWider
      ? await fillRequest(tx, suite, { ...wider, ...wordsOf(wanted) }, now)
      : 0;
  // The earlier request may have excluded parents, for example one of a search.
  const parents =
    requested.parents === "missing" && wider.parentId !== null && open.state !== "in-progress"
      ? await askForParents(tx, suite, requested, wider.parentId, now)
      : [];
  const answer = { id: open.id, parents };
  const first = parents.length === 0 ? "" : ` ${parentsText(parents)}`;
  if (!isWider && parents.length === 0) {
    return {
      ...answer,
      outcome: "nothing-missing",
      sentence: `${tag} has already been requested with all of these parts: the request is ${open.state}.`,
    };
  }
  await notifyBenchmarkChange(tx, suite.name);
  return {
    ...answer,
    outcome: "added",
    sentence:
      open.state === "in-progress"
        ? `${tag} is being measured; ${inserted === 1 ? "1 job was" : `${inserted} jobs were`} added.`
        : `${tag} has already been requested; the missing parts were added to that request.${first}`,
  };
}

async function askForParents(
  tx: Tx,
  suite: StoredSuite,
  requested: Requested,
  parentId: number,
  now: Date,
): Promise<string[]> {
  const { discover } = suite.definition;
  // If the farm requests the main line automatically, the parent is requested in the same way; otherwise like its
  // child.
  const { paired } = requested;
  // Only the compared artifact must have as many runs as the child, and its jobs are among the request's own.
  const wanted = { ...(discover === undefined ? requested : nothingRequested), paired, runs: null };
  const missing = missingParents(
    requested.artifact,
    await ancestorsOf(tx, parentId, mostParents),
    discover?.masterDays ?? defaultParentDays,
    (artifact) => ownJobs(suite.definition, wanted, artifact).length > 0,
  );
  for (const artifact of missing) {
    await insertRequest(tx, {
      ...wordsOf(wanted),
      id: BenchmarkRequestId.parse(randomUUID()),
      suite: suite.name,
      artifactId: artifact.id,
      parentId: artifact.parentId,
      kind: artifact.kind,
      pr: null,
      state: "artifacts-ready",
      requestedBy: requested.by,
      because: `it has no results, and it is the parent of ${requested.artifact.tag}`,
      createdAt: now,
    });
  }
  return missing.map(({ tag }) => tag);
}

function parentIdOf({ parent, artifact }: Requested): number | null {
  return parent === null ? null : (parent?.id ?? artifact.parentId);
}

function wordsOf({ backends, profiles, targets, benchmarks, paired, runs }: Request) {
  return {
    backends: [...backends],
    profiles: [...profiles],
    targets: [...targets],
    benchmarks: [...benchmarks],
    paired,
    runs,
  };
}

function parentsText(parents: readonly string[]): string {
  const [nearest] = parents;
  return parents.length === 1
    ? `${nearest}, which it follows, is measured first.`
    : `${parents.length} unmeasured artifacts before it are measured first, from ${parents.at(-1)} to ${nearest}.`;
}

function nothingToMeasure(
  suite: StoredSuite,
  artifact: StoredArtifact,
  requested: Request,
): string {
  const has = Object.keys(artifact.components);
  const wanted =
    requested.backends.length === 0 ? "the usual backends" : requested.backends.join(", ");
  return has.length === 0
    ? `${artifact.tag} is not there yet; ask with waitForArtifacts, or send a tarball for each backend`
    : `nothing of ${suite.name} would be measured of ${artifact.tag}: it has ${has.join(", ")}, and ${wanted} together with these profiles, targets and benchmarks are none of its cases`;
}
