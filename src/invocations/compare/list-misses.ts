import type { InvocationAction } from "#api/invocation.ts";
import type { InvocationMiss, InvocationMisses } from "#api/invocation-misses.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { parseDigestKey } from "#core/digest.ts";
import type { Db } from "#db/db.ts";
import { countActions, countsOf } from "../pages/count-actions.store.ts";
import type { InvocationName } from "../pages/invocation-row.store.ts";
import { listActions } from "../pages/list-actions.ts";
import { readAction } from "../pages/read-command.ts";
import { compareActions } from "./compare-actions.ts";
import { earlierActions } from "./earlier-actions.ts";
import { missReason } from "./miss-reason.ts";
import { latestRequestOf } from "./target-actions.store.ts";

/** Returns the next actions of an invocation that were not in the cache, each with the reason. */
export async function listMisses(
  { db, blobs }: { readonly db: Db; readonly blobs: BlobStore },
  name: InvocationName,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<InvocationMisses> {
  const { counts, page } = await db.transaction(async (tx) => ({
    counts: countsOf(await countActions(tx, [name]), name),
    page: await listActions(tx, {
      ...name,
      state: undefined,
      withoutHits: true,
      text: undefined,
      after,
      limit,
    }),
  }));
  const misses: InvocationMiss[] = [];
  // One after the other: comparing reads blobs.
  for (const action of page.actions) {
    // What another invocation had requested at the same time is no miss of this one.
    if (action.joined || action.executionId === null) continue;
    misses.push(await missOf(db, blobs, action, action.executionId));
  }
  return {
    hits: counts.hits,
    executed: counts.succeeded + counts.failed,
    misses,
    next: page.next,
  };
}

async function missOf(
  db: Db,
  blobs: BlobStore,
  { mnemonic, target }: InvocationAction,
  executionId: string,
): Promise<InvocationMiss> {
  const miss = { executionId, before: null, target, mnemonic, paths: [] };
  const request = await latestRequestOf(db, executionId);
  if (request === undefined || target === "") {
    return {
      ...miss,
      reason: "no target",
      sentence: "The build tool names no target, so that the farm cannot find an earlier action.",
    };
  }
  const [before] = await earlierActions(db, blobs, request, 1);
  if (before === undefined) {
    return {
      ...miss,
      reason: "first",
      sentence: "The farm knows no earlier action that made these outputs for this target.",
    };
  }
  const digest = parseDigestKey(request.actionDigest);
  const differences = await compareActions(blobs, parseDigestKey(before.actionDigest), digest);
  const { settings } = differences.isSameAction
    ? await readAction(blobs, digest)
    : { settings: null };
  const reason = missReason(differences, before.outcome, settings?.doNotCache);
  return { ...miss, before: before.executionId, ...reason };
}
