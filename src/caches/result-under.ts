import { toBinary } from "@bufbuild/protobuf";
import { lookUpByHash } from "#actions/look-up-by-hash.ts";
import type { OutputTrees } from "#actions/output-trees.ts";
import { isComplete } from "#actions/result-blobs.ts";
import { digestOf } from "#cas/digest-of.ts";
import { protectedDomain, type TrustDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { asActionResult } from "./as-action-result.ts";
import type { Value, ValueLookup } from "./caches.ts";
import type { CacheEntry, EntryName } from "./tool-rules.ts";

/** What was put in the place of results. */
export interface EntriesWithResults {
  readonly treesOf: (project: string) => OutputTrees;
  /** Those that are read as one. */
  readonly mostResultBytes: number;
  readonly find: (name: EntryName) => Promise<CacheEntry | undefined>;
  readonly valueOf: (entry: CacheEntry, lookup: ValueLookup) => Promise<Value | undefined>;
}

/**
 * What `/ac/HASH` gives: what was put there over HTTP, or else what a worker or a gRPC client has made.
 *
 * A result of which a blob is gone is none: Bazel would take it, and fail over the blob later on.
 */
export async function resultUnder(
  parts: EntriesWithResults & { readonly db: Db },
  name: EntryName,
  hash: string,
  lookup: ValueLookup,
  domain: TrustDomain = protectedDomain,
): Promise<Value | undefined> {
  const trees = parts.treesOf(name.project);
  const entry = await parts.find(name);
  // No tool writes results so large.
  if (entry !== undefined && entry.digest.sizeBytes > parts.mostResultBytes) {
    return parts.valueOf(entry, lookup);
  }
  const value = entry && (await parts.valueOf(entry, {}));
  if (value?.kind === "bytes") {
    const result = asActionResult(value.bytes);
    if (result === undefined || (await isComplete(trees, result, "sha256"))) return value;
  }
  const key = { project: name.project, domain };
  const hit = await lookUpByHash(parts.db, trees, key, hash);
  if (hit === undefined) return undefined;
  const bytes = toBinary(ActionResultSchema, hit);
  return { kind: "bytes", digest: digestOf(bytes), bytes };
}
