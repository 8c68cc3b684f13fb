import type { BlobStore } from "#cas/blob-store.ts";
import type { UploadStore } from "#cas/upload-store.ts";
import { packedUpToBytes } from "./packed-blobs.ts";

/**
 * The limit for all concurrent uploads together: above it, they are written to the disk, like large
 * ones.
 */
const mostGatheredBytes = 32 * 1024 * 1024;

/**
 * Uploads that keep small blobs in memory and store them in one piece.
 *
 * Continuing an interrupted upload needs a file for each, which is useful only for large blobs. Nearly all uploads of a
 * build tool are small: Bazel sends an action, its command and each of its outputs by a call of its own.
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
      // A continued upload was begun on the disk.
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
