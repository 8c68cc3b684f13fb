import type { BlobStore } from "#cas/blob-store.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { Download } from "./downloads.ts";
import type { SilenceBudget } from "./silence-budget.ts";

/** Reads a large blob while it arrives. */
export interface Follower {
  /** Adds received bytes. A slow reader is not waited for. */
  push(chunk: Uint8Array): void;
  /** Resolves with the first bytes. */
  readonly begun: Promise<void>;
  /**
   * Yields the whole blob. The last bytes come only when the blob is verified and stored: no reader ever has a complete
   * wrong blob, and a stream that breaks off is a miss for its tool. Throws when the rest does not arrive, or is wrong.
   */
  chunks(
    download: Promise<Download>,
    store: Pick<BlobStore, "read">,
    budget: SilenceBudget,
  ): AsyncGenerator<Uint8Array>;
}

/**
 * The limit for bytes that are buffered for a slow reader. It reads the rest from the store at the
 * end.
 */
const mostAheadBytes = 8 * 1024 * 1024;

export function followDownload(digest: Digest, most = mostAheadBytes): Follower {
  let ahead: Uint8Array[] = [];
  let aheadBytes = 0;
  let isLate = false;
  let came = () => {};
  let next = new Promise<void>((resolve) => {
    came = resolve;
  });
  const begun = next;

  const gone = (cause?: unknown) =>
    new Fault("unavailable", `the rest of ${digestKey(digest)} did not arrive`, { cause });

  return {
    begun,
    push(chunk) {
      if (isLate) return;
      // A copy: the store's handling of a chunk must not affect the reader.
      ahead.push(Uint8Array.from(chunk));
      aheadBytes += chunk.byteLength;
      if (aheadBytes > most) {
        isLate = true;
        ahead = [];
      }
      came();
      next = new Promise((resolve) => {
        came = resolve;
      });
    },

    async *chunks(download, store, budget) {
      let given = 0;
      let isOver = false;
      const over = download.then(
        () => {
          isOver = true;
        },
        () => {
          isOver = true;
        },
      );
      while (!isOver && !isLate) {
        const chunk = ahead[0];
        if (chunk === undefined) {
          await budget.wait(Promise.race([next, over]));
          continue;
        }
        if (given + chunk.byteLength >= digest.sizeBytes) break;
        ahead.shift();
        aheadBytes -= chunk.byteLength;
        given += chunk.byteLength;
        yield chunk;
      }
      const { kind } = await budget.wait(download).catch((reason: unknown) => {
        throw gone(reason);
      });
      if (kind !== "here") throw gone();
      const rest = await store.read(digest, { offset: given });
      if (rest === undefined) throw gone();
      ahead = [];
      yield* rest;
    },
  };
}
