import type { BlobStore } from "#cas/blob-store.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import type { Build } from "../builds/build.ts";
import type { GranaryResult } from "../granary-result.ts";

/** The build that requests something; `build` is undefined for an unknown requester. */
export interface Requester {
  readonly project: string;
  readonly build: Build | undefined;
  /**
   * The build executes at the farm. A blob that the farm produced cannot be produced here, so its absence is an error
   * and not a cache miss.
   */
  readonly madeAtFarm?: boolean;
}

/**
 * A cache of results and blobs with three tiers: the local store, transfers in progress, and the farm.
 *
 * It fails open: a problem with the farm is a cache miss and never an error, and a build waits for a silent farm one second in
 * total. Builds that execute at the farm (`madeAtFarm`) are the exception.
 */
export interface TieredCache {
  result(who: Requester, key: ResultKey): Promise<GranaryResult | undefined>;
  /**
   * Returns a store whose reads fetch missing blobs from the farm and whose writes stay local. `findMissing` also
   * checks the farm if the build executes there.
   */
  blobs(who: Requester): BlobStore;
  /** Stores a result of a build locally and queues it for the farm. Its blobs must be in the local store. */
  keep(who: Requester, result: GranaryResult): Promise<void>;
  forget(who: Requester, key: ResultKey): Promise<void>;
}
