import { create } from "@bufbuild/protobuf";
import type { IndexEntry } from "#commit-index/index-entry.ts";
import { toLoneDigest } from "#commit-index/lone-digest.ts";
import { resolveChain } from "#commit-index/resolve-chain.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { type FetchItem, FetchItemSchema } from "#proto/grange/granary/v1/granary_pb.ts";
import type { IndexBlob } from "./small-indexes.ts";

/** At 100 Mbit/s it takes half as long as the round trip of 20 ms that it saves the first results. */
const mostHeadBytes = 128 * 1024;
const mostHeadResults = 500;
/** A result without its blobs: its name, and a digest or a few. */
const recordBytes = 256;

/**
 * What of an index is to come along with it: what its builds asked for first, each result followed by its blobs, as
 * far as all come to so many bytes. Nothing of an index that did not come along itself.
 */
export async function indexHead(
  index: Digest,
  cameAlong: readonly IndexBlob[],
  mostBytes: number,
): Promise<FetchItem[]> {
  const data = new Map(cameAlong.map((blob) => [digestKey(blob.digest), blob.data]));
  try {
    const { entries } = await resolveChain(index, async (digest) => data.get(digestKey(digest)));
    return firstOf(entries, Math.min(mostBytes, mostHeadBytes));
  } catch (reason) {
    // An index is advice: whoever asked reads it again, and is told what is wrong with it.
    if (reason instanceof Fault) return [];
    throw reason;
  }
}

/** One that is too large for the rest is left out, and what is asked for after it may still fit. */
function firstOf(entries: readonly IndexEntry[], mostBytes: number): FetchItem[] {
  const items: FetchItem[] = [];
  const taken = new Set<string>();
  let bytes = 0;
  let results = 0;
  for (const { namespace, key, blobs } of entries.toSorted((a, b) => a.firstMs - b.firstMs)) {
    const fresh = blobs.filter((digest) => !taken.has(digestKey(digest)));
    const size = fresh.reduce((sum, { sizeBytes }) => sum + sizeBytes, recordBytes);
    if (bytes + size > mostBytes) continue;
    bytes += size;
    items.push(create(FetchItemSchema, { item: { case: "result", value: { namespace, key } } }));
    for (const digest of fresh) {
      taken.add(digestKey(digest));
      items.push(create(FetchItemSchema, { item: { case: "blob", value: toLoneDigest(digest) } }));
    }
    results += 1;
    if (results === mostHeadResults) break;
  }
  return items;
}
