import type { Digest } from "#core/digest.ts";

interface BatchLimits {
  readonly mostBytes: number;
  readonly mostItems: number;
}

/** Divides a list into runs that are fetched by one call each; an item larger than the limit gets a call of its own. */
export function inBatches<Item extends { readonly digest: Digest }>(
  items: readonly Item[],
  { mostBytes, mostItems }: BatchLimits,
): Item[][] {
  const batches: Item[][] = [];
  let batch: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    const { sizeBytes } = item.digest;
    if (batch.length === mostItems || (batch.length > 0 && bytes + sizeBytes > mostBytes)) {
      batches.push(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(item);
    bytes += sizeBytes;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
