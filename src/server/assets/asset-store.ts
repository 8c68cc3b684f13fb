import type { Principal } from "#access/principal.ts";
import { domainOfClient, mayKeep } from "#access/trust-domains/domain-of-client.ts";
import type { Caches } from "#caches/caches.ts";
import type { CacheEntry } from "#caches/tool-rules.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import type { Digest } from "#core/digest.ts";
import { missingInputs } from "../grpc/missing-inputs.ts";
import { type AssetRecord, attributesOf, isUsable, recordOf } from "./asset-age.ts";
import { type AssetKind, type AssetQuery, assetKey } from "./asset-query.ts";

/** Stored content under one of its URIs. */
interface StoredAsset {
  readonly uri: string;
  readonly digest: Digest;
  readonly expiresAtMs: number | undefined;
}

/** The content of a project by its URIs and qualifiers: entries of the caches, with their trust domains. */
export interface AssetStore {
  /** Returns content that is complete in the project and that the client accepts; undefined when there is none. */
  find(
    query: AssetQuery,
    by: { readonly caller: Principal; readonly project: string },
    oldestMs: number | undefined,
  ): Promise<StoredAsset | undefined>;
  /** Stores content under all its URIs. Durable when it resolves. Does nothing for a caller who may store no results. */
  keep(
    query: AssetQuery,
    by: { readonly caller: Principal; readonly project: string },
    digest: Digest,
    record: AssetRecord,
  ): Promise<void>;
  /** Returns whether a blob, or a directory with all files below it, is in the project. */
  isComplete(kind: AssetKind, project: string, digest: Digest): Promise<boolean>;
}

const tool = "remote-asset" as const;

export function assetStore(
  caches: Pick<Caches, "blobWith" | "findMany" | "keep" | "valueOf">,
  blobsOf: (project: string) => BlobStore,
  nowMs: () => number,
): AssetStore {
  const isComplete = async (kind: AssetKind, project: string, digest: Digest) => {
    const blobs = blobsOf(project);
    switch (kind) {
      case "blob":
        return (await blobs.findMissing([digest])).length === 0;
      case "directory":
        return (await missingInputs(blobs, digest)).length === 0;
    }
  };
  const isHere = async (query: AssetQuery, entry: CacheEntry) =>
    (await caches.valueOf(entry, { headOnly: true })) !== undefined &&
    (query.kind === "blob" || (await isComplete("directory", entry.project, entry.digest)));
  return {
    isComplete,

    async find(query, { caller, project }, oldestMs) {
      const { checksum, uris } = query;
      // A blob with the SHA-256 is the content, wherever it came from.
      for (const hash of checksum?.algorithm === "sha256" ? checksum.hashes : []) {
        const digest = query.kind === "blob" ? await caches.blobWith(project, hash) : undefined;
        if (digest !== undefined && (await isComplete("blob", project, digest))) {
          return { uri: uris[0], digest, expiresAtMs: undefined };
        }
      }
      const reader = domainOfClient(caller, project);
      const queries = uris.map((uri) => ({ project, tool, key: assetKey(query, uri), reader }));
      const entries = new Map(
        (await caches.findMany(queries)).map((entry) => [entry.key, entry] as const),
      );
      const request = { nowMs: nowMs(), oldestMs, hasChecksum: checksum !== undefined };
      for (const uri of uris) {
        const entry = entries.get(assetKey(query, uri));
        if (entry === undefined) continue;
        const record = recordOf(entry.attributes);
        if (!isUsable(record, request) || !(await isHere(query, entry))) continue;
        return { uri, digest: entry.digest, expiresAtMs: record.expiresAtMs };
      }
      return undefined;
    },

    async keep(query, { caller, project }, digest, record) {
      if (!mayKeep(caller, project)) return;
      const domain = domainOfClient(caller, project);
      const attributes = attributesOf(record);
      await Promise.all(
        query.uris.map((uri) =>
          caches.keep(
            {
              project,
              tool,
              key: assetKey(query, uri),
              domain,
              digest,
              attributes,
              principal: caller.name,
            },
            "replace",
          ),
        ),
      );
    },
  };
}
