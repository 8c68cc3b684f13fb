import { create } from "@bufbuild/protobuf";
import type { IndexEntry } from "#commit-index/index-entry.ts";
import { toLoneDigest } from "#commit-index/lone-digest.ts";
import { resolveChain } from "#commit-index/resolve-chain.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { type FetchItem, FetchItemSchema } from "#proto/grange/granary/v1/granary_pb.ts";
import type { IndexBlob } from "./small-indexes.ts";

/** At 100 Mbit/s, this takes half of the round trip of 20 ms that it saves for the first results. */
const mostHeadBytes = 128 * 1024;
const mostHeadResults = 500;
/** The estimated size of a result without its blobs: its name and some digests. */
const recordBytes = 256;

/**
 * Returns the start of an index that is sent with it: the first requests of its builds, each result followed by its
 * blobs, up to a number of bytes. Returns nothing for an index that is itself not sent.
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
    // An index is optional: the client reads it again and gets the error.
    if (reason instanceof Fault) return [];
    throw reason;
  }
}

/** An item that is too large for the rest is left out; later ones may still fit. */
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
