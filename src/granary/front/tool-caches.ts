import type { Logger } from "pino";
import { blobValue } from "#caches/blob-value.ts";
import type { CacheCounter } from "#caches/cache-counts.ts";
import type { Caches } from "#caches/caches.ts";
import type { CacheEntry, EntryName, NewCacheEntry } from "#caches/tool-rules.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import type { Digest } from "#core/digest.ts";
import { messageOf } from "#core/fault.ts";
import type { RecentlyUsed } from "#core/recently-used.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import type { GranaryResult } from "../granary-result.ts";
import { keyInEnvironment } from "../key-in-environment.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import type { Requester, TieredCache } from "../tiered-cache/tiered-cache.ts";
import { fetchNamedBlobs, namedBy } from "./named-blobs.ts";
import { outputPaths } from "./output-paths.ts";
import { costOfAction, costOfEntry } from "./result-cost.ts";
import { storeOrDiscard } from "./store-or-discard.ts";

export interface ToolCachesParts {
  readonly tieredCache: TieredCache;
  readonly store: GranaryStore;
  readonly counter: CacheCounter;
  /** Digests by their hash: over HTTP, Bazel requests blobs without stating their size. */
  readonly named: RecentlyUsed<Digest>;
  readonly logger: Logger;
}

/** The requester, and the environment under which its results are shared. */
interface ToolRequest extends Requester {
  readonly environment: string | Promise<string>;
}

/**
 * Returns the caches of build tools over a granary's tiered cache, for one request.
 *
 * `isWriting`: an entry is then searched only on this machine, and the lookup does not count as a request of the build.
 */
export function toolCaches(parts: ToolCachesParts, who: ToolRequest, isWriting: boolean): Caches {
  const { tieredCache, store, counter, named, logger } = parts;
  const blobs: BlobStore = tieredCache.blobs(who);
  /** Values that were read to their end and could not be stored. */
  const dropped = new WeakSet<Digest>();

  const onDropped = (reason: unknown) =>
    logger.warn(
      { reason: messageOf(reason) },
      "a value of a build tool was dropped: it could not be written to the disk",
    );

  const keyOf = async ({ tool, key }: Pick<EntryName, "tool" | "key">) =>
    keyInEnvironment(await who.environment, { namespace: tool, key });

  const find = async (name: EntryName): Promise<CacheEntry | undefined> => {
    const key = await keyOf(name);
    const result = isWriting
      ? await store.find(who.project, key).catch(() => undefined)
      : await tieredCache.result(who, key);
    return result && entryOf(name, result);
  };

  return {
    counter,
    find,
    async findMany(names) {
      const found = await Promise.all(names.map(find));
      return found.filter((entry) => entry !== undefined);
    },
    async valueOf(entry, request) {
      const value = await blobValue(blobs, entry.digest, request);
      if (value === undefined) {
        await tieredCache
          .forget(who, await keyOf(entry))
          .catch((err: unknown) => logger.warn({ err }, "not forgotten"));
      }
      return value;
    },
    async blobWith(_project, hash) {
      return (await store.blobs.withHash(hash).catch(() => undefined)) ?? named.peek(hash);
    },
    blobValue: (_project, digest, request) => blobValue(blobs, digest, request),

    async actionResult(name, _hash, request) {
      const entry = await find(name);
      if (entry === undefined) return undefined;
      const value = await blobValue(blobs, entry.digest, { ...request, headOnly: false });
      if (value?.kind !== "bytes") return value;
      const { result, blobs: all } = await namedBy(blobs, value.bytes);
      if (result === undefined) return value;
      if (all === undefined || !(await fetchNamedBlobs(blobs, all))) return undefined;
      for (const digest of all) named.set(digest.hash, digest);
      who.build?.knowsPlace?.(await keyOf(name), outputPaths(result));
      return value;
    },
    // Clients of gRPC use the action cache service instead.
    resultPutFor: async () => undefined,

    async take(_project, chunks) {
      const { digest, isKept } = await storeOrDiscard(store.blobs, chunks, onDropped);
      if (!isKept) dropped.add(digest);
      return digest;
    },
    async takeAs(_project, digest, chunks) {
      const take = async (bytes: AsyncIterable<Uint8Array>) => {
        await blobs.write(digest, bytes);
        return digest;
      };
      const taken = await storeOrDiscard({ take }, chunks, onDropped);
      if (taken.isKept) named.set(digest.hash, digest);
    },

    async keep(entry, again) {
      if (dropped.has(entry.digest)) return "kept";
      const key = await keyOf(entry);
      if (again === "refuse") {
        const first = await store.find(who.project, key).catch(() => undefined);
        if (first !== undefined) return "refused";
      }
      await keepEntry(parts, who, key, entry);
      return "kept";
    },

    async remove({ tool, key }) {
      const ownKey = await keyOf({ tool, key });
      const existed = store.has(who.project, ownKey);
      await tieredCache.forget(who, ownKey);
      return existed;
    },
    stop: async () => {},
  };
}

/** Keeps an entry under the key of its environment. An entry of Bazel is kept with the blobs that it names. */
async function keepEntry(
  { tieredCache, store }: ToolCachesParts,
  who: ToolRequest,
  key: ResultKey,
  { tool, digest, attributes }: NewCacheEntry,
): Promise<void> {
  const entry = { ...key, project: who.project, value: digest, attributes };
  const commit = attributes["x-artifact-sha"];
  if (commit !== undefined) {
    who.build?.toldCommit?.(commit, attributes["x-artifact-dirty-hash"] !== undefined);
  }
  if (tool !== "bazel") {
    await tieredCache.keep(who, { ...entry, blobs: [], costMs: costOfEntry(attributes) });
    return;
  }
  const bytes = await store.blobs.get(digest);
  const { result, blobs = [] } = bytes ? await namedBy(store.blobs, bytes) : {};
  // Bazel sends blobs before the result that names them: a missing one was not written to the disk.
  if ((await store.blobs.findMissing(blobs)).length > 0) return;
  const costMs = result && costOfAction(result);
  if (result !== undefined) who.build?.knowsPlace?.(entry, outputPaths(result));
  await tieredCache.keep(who, { ...entry, blobs, costMs });
}

function entryOf(name: EntryName, { value, attributes }: GranaryResult): CacheEntry {
  // The current time. Only WebDAV listings show when an entry was made, and sccache does not read
  // that date.
  const now = new Date();
  // A granary serves one user: the farm decides by the granary's rights what it may read.
  return {
    ...name,
    domain: protectedDomain,
    digest: value,
    attributes,
    createdAt: now,
    lastUsedAt: now,
  };
}
