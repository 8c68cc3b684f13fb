import { fromBinary } from "@bufbuild/protobuf";
import { functionOf } from "#core/digest.ts";
import { readableDomains } from "#core/readable-domains.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import {
  type ActionResult,
  ActionResultSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { touchActionResult } from "./action-result.store.ts";
import type { OutputTrees } from "./output-trees.ts";
import { isComplete } from "./result-blobs.ts";
import { resultsByHash } from "./result-by-hash.store.ts";

/**
 * Returns a complete result of the action with this SHA-256 that the domain may read, for callers that do not know the
 * action's size.
 */
export async function lookUpByHash(
  tx: Tx,
  trees: OutputTrees,
  { project, domain }: { readonly project: string; readonly domain: TrustDomain },
  hash: string,
): Promise<ActionResult | undefined> {
  for (const found of await resultsByHash(tx, project, readableDomains(domain), hash)) {
    if (!trees.seals.holds(found)) continue;
    const { actionDigest } = found;
    const result = fromBinary(ActionResultSchema, found.result);
    if (!(await isComplete(trees, result, functionOf(actionDigest)))) continue;
    await touchActionResult(tx, { project, domain: found.domain, actionDigest });
    return result;
  }
  return undefined;
}
