import type { BlobStore } from "#cas/blob-store.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { removeAsRead } from "./cache-entry.store.ts";
import type { CacheEntry } from "./tool-rules.ts";

/**
 * Deletes an entry whose blob is missing.
 *
 * Meanwhile, another client may have written the same bytes again, which does not change the entry. Writers store the
 * blob before the entry: this code either sees the blob now, or the entry is written afterwards, because its writer
 * waits for this transaction.
 */
export async function forgetGone(
  db: Db,
  blobs: Pick<BlobStore, "findMissing">,
  entry: CacheEntry,
): Promise<void> {
  try {
    await db.transaction(async (tx) => {
      if (!(await removeAsRead(tx, entry))) return;
      const gone = await blobs.findMissing([entry.digest]);
      // Undoes the removal.
      if (gone.length === 0) throw cameBack;
    });
  } catch (reason) {
    if (reason !== cameBack) throw reason;
  }
}

const cameBack = new Fault("aborted", "the blob of a cache entry came back");
