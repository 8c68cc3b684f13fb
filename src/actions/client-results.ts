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

/** What became of a result that a client wants kept. */
export type ClientResultEnd =
  | { readonly kind: "kept" }
  /** One of this farm's workers says what came of the action; that stays. */
  | { readonly kind: "known" }
  /** A failure, which the cache keeps from nobody. */
  | { readonly kind: "not_cacheable" }
  /** It refers to blobs that are not in the store. */
  | { readonly kind: "incomplete"; readonly missing: readonly Digest[] };

/**
 * Keeps what a client says came of an action that it ran by itself, for other clients.
 *
 * What the action is nobody looks at: for some tools its digest is that of a text of their own.
 * Throws `invalid_argument` when a path, a digest or a Tree of the result is illegal.
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
    /** The message as it was written, where others know it by the digest of just these bytes. */
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
