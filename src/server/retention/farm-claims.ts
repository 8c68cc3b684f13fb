import { fromBinary } from "@bufbuild/protobuf";
import type { OutputTrees } from "#actions/output-trees.ts";
import { blobsOfResult } from "#actions/result-blobs.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { namespaceOf } from "#cas/namespaces/namespace.ts";
import { defaultProject } from "#core/default-project.ts";
import { type Digest, functionOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { openActions } from "#execution/submitting/open-actions.store.ts";
import {
  type HeldResult,
  resultsOfGraphsSince,
  resultsOfGraphsUnderWay,
  rootsOfChunkedRuns,
} from "#graphs/held-results.store.ts";
import { tarballsUnderWay } from "#perf/requests/tarballs.store.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { Holds } from "./held-blobs.ts";
import { holdInputs, holdTree } from "./inputs-of-action.ts";

/** A blob of a project that must be kept. */
export interface Claim {
  readonly project: string;
  readonly digest: Digest;
}

/** Yields blobs that are in use. May yield one twice, or one that is absent. */
export type Claims = () => AsyncIterable<Claim>;

/** For a farm without indexes. */
export async function* noClaims(): AsyncGenerator<Claim, void, undefined> {}

/** People look at a graph's outputs and logs for a week; they are kept that long, unless the space is needed. */
const keepOutputsMs = 7 * 24 * 60 * 60_000;

/**
 * Returns the blobs that are held. Firmly held: those that running work needs. Lightly held: those that people look at,
 * and those of `pinned`, which the indexes of the newest commits of protected branches would prefetch.
 *
 * Uploads in progress are not blobs yet. A blob that is claimed during the round was used at that moment, and so counts
 * as young.
 */
export async function farmHolds(
  services: {
    readonly db: Tx;
    readonly blobsOf: (project: string) => BlobStore;
    readonly treesOf: (project: string) => OutputTrees;
    readonly pinned: Claims;
  },
  now: Date,
  signal: AbortSignal,
): Promise<Holds> {
  const { db, blobsOf, treesOf, pinned } = services;
  const holds = new Holds();
  const firmlyIn = (project: string) => {
    const { firm } = holds.in(namespaceOf(project));
    return (digest: Digest) => firm.add(digest);
  };
  for (const { project, digest } of await openActions(db)) {
    signal.throwIfAborted();
    await holdInputs(blobsOf(project), digest, firmlyIn(project));
  }
  for (const { project, root } of await rootsOfChunkedRuns(db))
    await holdTree(blobsOf(project), root, firmlyIn(project));
  for await (const made of resultsOfGraphsUnderWay(db)) {
    signal.throwIfAborted();
    const firmly = firmlyIn(made.project);
    for (const digest of await namedBy(treesOf(made.project), made)) firmly(digest);
  }
  // The benchmark lab works in the default project.
  for (const digest of await tarballsUnderWay(db)) firmlyIn(defaultProject)(digest);

  const since = new Date(now.getTime() - keepOutputsMs);
  for await (const made of resultsOfGraphsSince(db, since)) {
    signal.throwIfAborted();
    const { light } = holds.in(namespaceOf(made.project));
    for (const digest of await namedBy(treesOf(made.project), made)) light.add(digest);
  }
  for await (const { project, digest } of pinned()) {
    signal.throwIfAborted();
    holds.in(namespaceOf(project)).light.add(digest);
  }
  return holds;
}

/** An illegal result names no blobs. */
export async function namedBy(
  trees: OutputTrees,
  { actionDigest, result }: Pick<HeldResult, "actionDigest" | "result">,
): Promise<readonly Digest[]> {
  try {
    const by = actionDigest === undefined ? "sha256" : functionOf(actionDigest);
    return await blobsOfResult(trees, fromBinary(ActionResultSchema, result), by);
  } catch (reason) {
    if (reason instanceof Fault && aboutTheResult.has(reason.code)) return [];
    throw reason;
  }
}

const aboutTheResult: ReadonlySet<Fault["code"]> = new Set(["invalid_argument", "data_loss"]);
