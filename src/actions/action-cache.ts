import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { type DigestFunction, digestKey, functionOf } from "#core/digest.ts";
import { readableDomains } from "#core/readable-domains.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import {
  type ActionResult,
  ActionResultSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import {
  type ActionResultKey,
  actionResultsIn,
  saveActionResult,
  touchActionResult,
} from "./action-result.store.ts";
import type { OutputTrees } from "./output-trees.ts";
import { isComplete } from "./result-blobs.ts";
import { assertLegalOutputs } from "./result-paths.ts";
import { type ResultOrigin, type ResultSeals, unsealed } from "./result-seals.ts";

/** A result that can be used instead of executing the action. All its blobs were present a moment ago. */
interface ActionHit {
  readonly result: ActionResult;
  /** The domain in which it was found. */
  readonly domain: TrustDomain;
  /** Who made the result. */
  readonly origin: ResultOrigin;
  readonly createdAt: Date;
}

/** Which results are accepted: only those of this farm's workers, or also those that clients wrote. */
type Trust = "workers" | "clients too";

/**
 * Looks for a result of an action that a run in the key's domain may read.
 *
 * A result with a missing blob or an unreadable Tree, or without a valid signature of the farm, is no hit: the next
 * domain is tried, and at last the action is executed again. A client's result is no hit for a caller that accepts only
 * workers' results, because a graph states that its jobs ran here.
 */
export async function lookUpActionResult(
  tx: Tx,
  trees: OutputTrees,
  { project, domain, actionDigest }: ActionResultKey,
  trust: Trust = "workers",
): Promise<ActionHit | undefined> {
  const stored = await actionResultsIn(tx, project, readableDomains(domain), actionDigest);
  for (const candidate of stored) {
    if (candidate.origin.kind === "client" && trust === "workers") continue;
    if (!trees.seals.holds(candidate)) continue;
    const result = await completeResult(trees, candidate.result, functionOf(actionDigest));
    if (result === undefined) continue;
    await touchActionResult(tx, { project, domain: candidate.domain, actionDigest });
    const { origin, createdAt } = candidate;
    return { result, domain: candidate.domain, origin, createdAt };
  }
  return undefined;
}

interface FinishedAction extends ActionResultKey {
  readonly result: ActionResult;
  readonly executionId: string;
  readonly attempt: number;
  readonly worker?: string | undefined;
}

/**
 * Records the result of an action for reuse; returns "not_cacheable" when the action failed.
 *
 * The caller holds the lease's proof and has checked with `missingBlobsOf` that all blobs exist. Recording the same
 * attempt again changes nothing. Throws `invalid_argument` when an output has an illegal path.
 */
export async function recordActionResult(
  tx: Tx,
  { result, ...finished }: FinishedAction,
  seals: Pick<ResultSeals, "sealOf"> = unsealed,
): Promise<"recorded" | "not_cacheable"> {
  assertLegalOutputs(result);
  if (result.exitCode !== 0) return "not_cacheable";
  const { project, domain, actionDigest, executionId, attempt, worker = null } = finished;
  const bytes = toBinary(ActionResultSchema, result);
  const seal = seals.sealOf({
    project,
    domain,
    action: digestKey(actionDigest),
    result: bytes,
    origin: { kind: "execution", executionId, attempt, worker },
    isAdopted: false,
  });
  await saveActionResult(tx, { ...finished, worker, seal, result: bytes });
  return "recorded";
}

/** Returns the result when all its blobs exist and all its parts are legal. */
export async function completeResult(
  trees: OutputTrees,
  bytes: Uint8Array,
  by: DigestFunction,
): Promise<ActionResult | undefined> {
  const result = fromBinary(ActionResultSchema, bytes);
  return (await isComplete(trees, result, by)) ? result : undefined;
}
