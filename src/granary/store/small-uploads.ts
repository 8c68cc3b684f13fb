import type { BlobStore } from "#cas/blob-store.ts";
import type { UploadStore } from "#cas/upload-store.ts";
import { packedUpToBytes } from "./packed-blobs.ts";

/** Of all that are under way together: beyond that they wait on the disk, as large ones do. */
const mostGatheredBytes = 32 * 1024 * 1024;

/**
 * Uploads of which the small ones are gathered in memory, and go to the store in one piece.
 *
 * To go on with one where it was broken off is worth a file for each where a blob is large. Of a build tool's uploads nearly
 * all are small: Bazel sends an action, its command and each of its outputs by a call of its own.
 */
export function smallAtOnce(
  uploads: UploadStore,
  blobs: Pick<BlobStore, "write">,
  { upToBytes = packedUpToBytes, mostBytes = mostGatheredBytes } = {},
): UploadStore {
  let gathered = 0;
  return {
    ...uploads,
    async receive(upload) {
      const { digest, offset, chunks } = upload;
      const isSmall = digest.sizeBytes <= upToBytes && gathered + digest.sizeBytes <= mostBytes;
      // Who goes on has begun on the disk.
      if (!isSmall || offset > 0) return uploads.receive(upload);
      gathered += digest.sizeBytes;
      try {
        await blobs.write(digest, chunks);
      } finally {
        gathered -= digest.sizeBytes;
      }
    },
  };
}
