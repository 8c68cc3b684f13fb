import { type Digest, digestKey } from "#core/digest.ts";
import type { ExpectedEntry } from "./filter-by-diff.ts";
import type { IndexEntry } from "./index-entry.ts";
import { byFirstUse } from "./merge-indexes.ts";
import type { WantedTransfer } from "./order-transfer.ts";
import { keyText, type ResultKey } from "./result-key.ts";

/** A look at memory: what this machine has. */
export interface Here {
  has(key: ResultKey): boolean;
  hasBlob(digest: Digest): boolean;
}

/** What is to be had of several indexes, the best first: what is not here, each result once, each blob counted once. */
export function wantMissing(
  indexes: readonly (readonly ExpectedEntry[])[],
  here: Here,
): WantedTransfer<IndexEntry>[] {
  const byKey = new Map<string, ExpectedEntry>();
  for (const expected of indexes.flat()) {
    const name = keyText(expected.entry);
    const known = byKey.get(name);
    if (known === undefined || known.confidence < expected.confidence) byKey.set(name, expected);
  }
  const counted = new Set<string>();
  return [...byKey.values()]
    .sort((one, other) => byFirstUse(one.entry, other.entry))
    .flatMap(({ entry, confidence }) => {
      const missing = entry.blobs.filter((blob) => !here.hasBlob(blob));
      if (missing.length === 0 && here.has(entry)) return [];
      const { firstMs, savedMs } = entry;
      return [{ item: entry, bytes: bytesOf(missing, counted), firstMs, savedMs, confidence }];
    });
}

function bytesOf(blobs: readonly Digest[], counted: Set<string>): number {
  let bytes = 0;
  for (const blob of blobs) {
    const name = digestKey(blob);
    if (counted.has(name)) continue;
    counted.add(name);
    bytes += blob.sizeBytes;
  }
  return bytes;
}
