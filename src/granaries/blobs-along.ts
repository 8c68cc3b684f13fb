import type { BlobStore } from "#cas/blob-store.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import type { FarmResult } from "./project-results.ts";

export interface BlobAlong {
  readonly digest: Digest;
  readonly data: Uint8Array;
}

/** Most blobs of ccache are smaller. Sending a larger one takes longer than the round trip that it would save. */
const mostBytesEach = 64 * 1024;
/** The limit for one answer: it is a single message, for which a build waits. */
const mostBytesInAll = 256 * 1024;

/**
 * Returns the blobs that a client would request after a lookup: values and blobs, if they are small. All blobs of a
 * result or none, because a part saves no round trip.
 */
export async function blobsAlong(
  blobs: Pick<BlobStore, "get">,
  results: readonly Pick<FarmResult, "value" | "blobs" | "bytes">[],
  wantedBytes: number,
): Promise<BlobAlong[]> {
  const taken = new Map<string, () => Promise<BlobAlong | undefined>>();
  let left = Math.min(wantedBytes, mostBytesInAll);
  for (const { value, blobs: named, bytes } of results) {
    const needed = new Map(
      [value, ...named]
        .map((digest) => [digestKey(digest), digest] as const)
        .filter(([key]) => !taken.has(key)),
    );
    const all = [...needed.values()];
    const sum = all.reduce((total, { sizeBytes }) => total + sizeBytes, 0);
    if (sum > left || all.some(({ sizeBytes }) => sizeBytes > mostBytesEach)) continue;
    left -= sum;
    for (const [key, digest] of needed) {
      taken.set(key, async () => {
        const data = digest === value && bytes !== undefined ? bytes : await blobs.get(digest);
        return data && { digest, data };
      });
    }
  }
  const read = await Promise.all([...taken.values()].map((one) => one()));
  return read.flatMap((one) => one ?? []);
}
