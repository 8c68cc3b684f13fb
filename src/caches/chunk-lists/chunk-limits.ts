import { chunkSizesOf } from "#cas/chunking/fast-cdc.ts";
import { type Digest, hexOf } from "#core/digest.ts";

/** REv2 recommends this average. Bazel uploads blobs of up to 2 MiB, the largest chunk, in one piece. */
export const chunkSizes = chunkSizesOf(512 * 1024);

/** Many clients read messages of 4 MiB at most. */
const mostListBytes = 4_000_000;
/** The bytes of a digest in a message besides its hash: three tags, two lengths, and a size of up to 35 bits. */
const bytesBesideHash = 11;

/** Returns how many chunks a list for a blob may have: as many as fit into an answer. 53,000 with SHA-256. */
export function mostChunksOf(blob: Digest): number {
  return Math.floor(mostListBytes / (hexOf(blob).length + bytesBesideHash));
}

/**
 * Returns the size of the largest blob that is split or put together from chunks: about 26 GiB with SHA-256. A list
 * may name one chunk often, so a small request could otherwise make the server write without end.
 */
export function mostChunkedBytesOf(blob: Digest): number {
  return mostChunksOf(blob) * chunkSizes.averageBytes;
}

/**
 * Returns whether chunks that a client names have the sizes that FastCDC gives. Only then are they stored as the chunks
 * of the blob: clients refuse larger ones, and with smaller ones a list would be long.
 */
export function haveFastCdcSizes(chunks: readonly Digest[]): boolean {
  const last = chunks.length - 1;
  return chunks.every(
    ({ sizeBytes }, at) =>
      sizeBytes <= chunkSizes.mostBytes &&
      (at === last ? sizeBytes > 0 : sizeBytes >= chunkSizes.leastBytes),
  );
}

/** Returns why chunks cannot be put together to a blob; undefined if their sizes allow it. */
export function whyNotTogether(
  blob: Digest,
  chunks: readonly Pick<Digest, "sizeBytes">[],
): string | undefined {
  const most = mostChunksOf(blob);
  if (chunks.length > most) {
    return `${chunks.length} chunks are more than ${most}: use larger chunks, or upload the blob with ByteStream`;
  }
  const mostBytes = mostChunkedBytesOf(blob);
  if (blob.sizeBytes > mostBytes) {
    return `a blob of ${blob.sizeBytes} bytes is larger than ${mostBytes}: upload it with ByteStream`;
  }
  const bytes = chunks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return bytes === blob.sizeBytes
    ? undefined
    : `the chunks have ${bytes} bytes together, but the blob has ${blob.sizeBytes}`;
}
