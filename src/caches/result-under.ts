import { toBinary } from "@bufbuild/protobuf";
import { lookUpByHash } from "#actions/look-up-by-hash.ts";
import type { OutputTrees } from "#actions/output-trees.ts";
import { isComplete } from "#actions/result-blobs.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { Db } from "#db/db.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { asActionResult } from "./as-action-result.ts";
import type { Value, ValueLookup } from "./caches.ts";
import type { CacheEntry, EntryQuery } from "./tool-rules.ts";

/** The entries that were stored in place of results. */
export interface EntriesWithResults {
  readonly treesOf: (project: string) => OutputTrees;
  /** The size limit for parsing an entry as a result. */
  readonly mostResultBytes: number;
  readonly find: (query: EntryQuery) => Promise<CacheEntry | undefined>;
  readonly valueOf: (entry: CacheEntry, lookup: ValueLookup) => Promise<Value | undefined>;
}

/**
 * Returns the content of `/ac/HASH`: an entry that was written over HTTP, or else the result of a worker or a gRPC
 * client.
 *
 * A result with a missing blob counts as absent: Bazel would accept it and fail later on the missing blob.
 */
export async function resultUnder(
  parts: EntriesWithResults & { readonly db: Db },
  query: EntryQuery,
  hash: string,
  lookup: ValueLookup,
): Promise<Value | undefined> {
  const trees = parts.treesOf(query.project);
  const entry = await parts.find(query);
  // No tool writes results so large.
  if (entry !== undefined && entry.digest.sizeBytes > parts.mostResultBytes) {
    return parts.valueOf(entry, lookup);
  }
  const value = entry && (await parts.valueOf(entry, {}));
  if (value?.kind === "bytes") {
    const result = asActionResult(value.bytes);
    if (result === undefined || (await isComplete(trees, result, "sha256"))) return value;
  }
  const key = { project: query.project, domain: query.reader };
  const hit = await lookUpByHash(parts.db, trees, key, hash);
  if (hit === undefined) return undefined;
  const bytes = toBinary(ActionResultSchema, hit);
  return { kind: "bytes", digest: digestOf(bytes), bytes };
}
