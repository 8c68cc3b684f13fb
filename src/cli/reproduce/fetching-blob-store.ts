import type { BlobStore } from "#cas/blob-store.ts";
import type { Digest } from "#core/digest.ts";
import type { ApiClient } from "../api/api-client.ts";
import { ApiFailure } from "../api/api-failure.ts";
import { addressOfBlob } from "../read-blob.ts";

/**
 * Returns a store that fetches missing blobs of a project from the farm into a local store, which checks their digests.
 * What is written stays in the local store: nothing is sent to the farm.
 */
export function fetchingBlobStore(
  api: Pick<ApiClient, "bytes">,
  project: string,
  local: BlobStore,
): BlobStore {
  /** Returns false when the farm does not have the blob either. */
  const fetched = async (digest: Digest): Promise<boolean> => {
    if ((await local.findMissing([digest])).length === 0) return true;
    try {
      await local.write(digest, api.bytes(addressOfBlob(project, digest)));
      return true;
    } catch (reason) {
      if (reason instanceof ApiFailure && reason.code === "not_found") return false;
      throw reason;
    }
  };
  return {
    get: async (digest) => ((await fetched(digest)) ? local.get(digest) : undefined),
    read: async (digest, range) =>
      (await fetched(digest)) ? local.read(digest, range) : undefined,
    put: (digest, bytes) => local.put(digest, bytes),
    write: (digest, chunks, signal) => local.write(digest, chunks, signal),
    findMissing: (digests) => local.findMissing(digests),
  };
}
