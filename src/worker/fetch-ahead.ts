import type { BlobStore } from "#cas/blob-store.ts";
import { mapAtMost } from "#cas/map-at-most.ts";
import { type Digest, isEmptyDigest } from "#core/digest.ts";
import type { InputRoots } from "./input-root/input-root.ts";
import type { LocalStore } from "./local-store.ts";

/** What is fetched of one input tree ahead, at most; and of one file. */
const mostBytes = 64 * 1024 * 1024;
const mostBytesOfFile = 16 * 1024 * 1024;
/** A claimed action has 32 in flight. */
const atOnce = 8;

/**
 * Fetches what actions will need that are not claimed yet.
 *
 * It stands back whenever the inputs of a claimed action are fetched: what it has in flight then is
 * finished, for that action may wait for just that; nothing new is begun.
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

  /** Whether the line is free of claimed actions' inputs. */
  get isFree(): boolean {
    return this.#claimedFetch === 0;
  }

  /** Nothing is fetched ahead while this goes on. */
  async during<T>(fetchOfClaimed: () => Promise<T>): Promise<T> {
    this.#claimedFetch++;
    this.#going?.abort();
    try {
      return await fetchOfClaimed();
    } finally {
      this.#claimedFetch--;
    }
  }

  /** Fetches what of a tree is not here, as far as it may. Answers how many files came. Never throws. */
  async fetch(root: Digest, farm: BlobStore, stop: AbortSignal): Promise<number> {
    if (!this.isFree || isEmptyDigest(root)) return 0;
    const going = new AbortController();
    this.#going = going;
    const isOver = () => going.signal.aborted || stop.aborted;
    let fetched = 0;
    let bytes = 0;
    try {
      const files = await this.#inputRoots.filesOf(root, farm);
      await mapAtMost(atOnce, files, async (file) => {
        const { sizeBytes } = file.digest;
        if (isOver() || sizeBytes > mostBytesOfFile || bytes + sizeBytes > mostBytes) return;
        if (this.#local.holds(file.digest)) return;
        bytes += sizeBytes;
        await this.#local.fetch([file], farm);
        fetched++;
      });
    } catch {
      // Whoever claims it finds out what is wrong, and says so.
    }
    return fetched;
  }
}
