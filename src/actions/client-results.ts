import { toBinary } from "@bufbuild/protobuf";
import { type Digest, digestKey, functionOf } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import {
  type ActionResult,
  ActionResultSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { completeResult } from "./action-cache.ts";
import { type ActionResultKey, actionResultsIn, saveClientResult } from "./action-result.store.ts";
import type { OutputTrees } from "./output-trees.ts";
import { missingBlobsOf } from "./result-blobs.ts";
import { assertLegalOutputs } from "./result-paths.ts";

/** The outcome of storing a client's result. */
export type ClientResultEnd =
  | { readonly kind: "kept" }
  /** A worker of this farm has stored a result of the action, which is kept. */
  | { readonly kind: "known" }
  /** A failure, which is never cached. */
  | { readonly kind: "not_cacheable" }
  /** The result refers to blobs that are not in the store. */
  | { readonly kind: "incomplete"; readonly missing: readonly Digest[] };

/**
 * Stores the result of an action that a client ran itself, for other clients.
 *
 * The action itself is not read: some tools use the digest of a different text. Throws `invalid_argument` when a path,
 * a digest or a Tree of the result is illegal.
 */
export async function keepClientResult(
  db: Tx,
  trees: OutputTrees,
  {
    result,
    principal,
    as,
    ...key
  }: ActionResultKey & {
    readonly result: ActionResult;
    readonly principal: string;
    /** The original encoding of the message, when others refer to it by the digest of exactly these bytes. */
    readonly as?: Uint8Array;
  },
): Promise<ClientResultEnd> {
  assertLegalOutputs(result);
  const by = functionOf(key.actionDigest);
  const missing = await missingBlobsOf(trees, result, by);
  if (missing.length > 0) return { kind: "incomplete", missing };
  if (result.exitCode !== 0) return { kind: "not_cacheable" };
  const [stored] = await actionResultsIn(db, key.project, [key.domain], key.actionDigest);
  if (
    stored?.origin.kind === "execution" &&
    trees.seals.holds(stored) &&
    (await completeResult(trees, stored.result, by))
  )
    return { kind: "known" };
  const bytes = as ?? toBinary(ActionResultSchema, result);
  const seal = trees.seals.sealOf({
    project: key.project,
    domain: key.domain,
    action: digestKey(key.actionDigest),
    result: bytes,
    origin: { kind: "client", principal },
    isAdopted: false,
  });
  const saved = { ...key, result: bytes, principal, seal };
  const isKept = await saveClientResult(db, saved, stored?.origin);
  return { kind: isKept ? "kept" : "known" };
}
