import type { BlobStore } from "#cas/blob-store.ts";
import { type Digest, parseDigestKey } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { outputsOfAction } from "../pages/read-command.ts";
import { earlierActionsOf, type TargetAction } from "./target-actions.store.ts";

/** How many earlier actions of the target are looked at. */
const mostLookedAt = 100;

/**
 * Returns the earlier actions, at most `most`, that made the same outputs for the same target, the newest first: the same step of the
 * build, with other inputs.
 */
export async function earlierActions(
  tx: Tx,
  blobs: BlobStore,
  action: TargetAction,
  most = mostLookedAt,
): Promise<TargetAction[]> {
  const earlier = await earlierActionsOf(tx, action, mostLookedAt);
  const outputs = await outputsOfAction(blobs, parseDigestKey(action.actionDigest));
  const known = new Map<string, boolean>([[action.actionDigest, true]]);
  const same: TargetAction[] = [];
  for (const each of earlier) {
    const isSame =
      known.get(each.actionDigest) ??
      (await makesOutputs(blobs, parseDigestKey(each.actionDigest), outputs));
    known.set(each.actionDigest, isSame);
    if (isSame) same.push(each);
    if (same.length === most) return same;
  }
  return same;
}

/** An action whose blobs are gone is not known to be the same step. */
async function makesOutputs(
  blobs: BlobStore,
  digest: Digest,
  outputs: string | undefined,
): Promise<boolean> {
  return outputs !== undefined && (await outputsOfAction(blobs, digest)) === outputs;
}
