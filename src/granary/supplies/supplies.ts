import type { BlobStore } from "#cas/blob-store.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import type { Build } from "../builds/build.ts";
import type { GranaryResult } from "../granary-result.ts";

/** For whom something is got: a build under way, or nobody that is known. */
export interface ForWhom {
  readonly project: string;
  readonly build: Build | undefined;
  /**
   * The farm makes what it builds, so that it waits for the farm anyway. A blob that was made there is not to be made
   * again here: that it does not come is a failure, and no miss.
   */
  readonly madeAtFarm?: boolean;
}

/**
 * Results and blobs for tools, wherever they are: on this machine, on their way, or at the farm.
 *
 * It fails open: trouble with the farm is a miss, never an error, and all of a build's waits for a farm that does not
 * answer come to a second. But for blobs of what the farm makes itself.
 */
export interface Supplies {
  result(who: ForWhom, key: ResultKey): Promise<GranaryResult | undefined>;
  /** Reads fetch what is not here; writes stay here; `findMissing` tells what the machine lacks, and the farm as well where that executes. */
  blobs(who: ForWhom): BlobStore;
  /** Keeps what a build made, here and soon at the farm. Its blobs are here. */
  keep(who: ForWhom, result: GranaryResult): Promise<void>;
  forget(who: ForWhom, key: ResultKey): Promise<void>;
}
