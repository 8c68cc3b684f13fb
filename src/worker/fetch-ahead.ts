import type { BlobStore } from "#cas/blob-store.ts";
import { type Digest, isEmptyDigest } from "#core/digest.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { inBatches } from "./fetch-batches.ts";
import type { InputRoots } from "./input-root/input-root.ts";
import type { LocalStore } from "./local-store.ts";

/** The maximum number of prefetched bytes of one input tree, and of one file. */
const mostBytes = 64 * 1024 * 1024;
const mostBytesOfFile = 16 * 1024 * 1024;
/** The size of one call; fewer bytes are in flight than for a claimed action. */
const batchLimits = { mostBytes: 256 * 1024, mostItems: 100 };
const atOnce = 4;

/**
 * Prefetches the inputs of actions that are not claimed yet.
 *
 * It pauses while inputs of a claimed action are fetched. Transfers in flight continue, because that action may need
 * the same blobs; no new transfer starts.
 */
export class FetchAhead {
  readonly #inputRoots: InputRoots;
  readonly #local: LocalStore;
  #claimedFetch = 0;
  #going: AbortController | undefined;

  constructor(inputRoots: InputRoots, local: LocalStore) {
    this.#inputRoots = inputRoots;
    this.#local = local;
  }

  /** Whether no inputs of claimed actions are being fetched. */
  get isFree(): boolean {
    return this.#claimedFetch === 0;
  }

  /** No prefetch starts while this function runs. */
  async during<T>(fetchOfClaimed: () => Promise<T>): Promise<T> {
    this.#claimedFetch++;
    this.#going?.abort();
    try {
      return await fetchOfClaimed();
    } finally {
      this.#claimedFetch--;
    }
  }

  /** Fetches the missing files of a tree, within the limits. Returns the number of fetched files. Never throws. */
  async fetch(root: Digest, farm: BlobStore, stop: AbortSignal): Promise<number> {
    if (!this.isFree || isEmptyDigest(root)) return 0;
    const going = new AbortController();
    this.#going = going;
    const isOver = () => going.signal.aborted || stop.aborted;
    let fetched = 0;
    let bytes = 0;
    try {
      const files = await this.#inputRoots.filesOf(root, farm);
      await mapAtMost(atOnce, inBatches(files, batchLimits), async (batch) => {
        if (isOver()) return;
        const wanted = batch.filter(({ digest }) => {
          const { sizeBytes } = digest;
          if (sizeBytes > mostBytesOfFile || bytes + sizeBytes > mostBytes) return false;
          if (this.#local.holds(digest)) return false;
          bytes += sizeBytes;
          return true;
        });
        await this.#local.fetch(wanted, farm);
        fetched += wanted.length;
      });
    } catch {
      // A worker that claims the action finds the problem and reports it.
    }
    return fetched;
  }
}
