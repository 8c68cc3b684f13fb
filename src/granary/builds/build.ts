import type { LateReason, ResultSource } from "#api/granary.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import type { Digest } from "#core/digest.ts";
import type { GranaryResult } from "../granary-result.ts";

/** The outcome of a build's request for a result. */
export interface ResultRequest {
  readonly source: ResultSource;
  readonly because: LateReason | undefined;
  readonly waitedMs: number;
  /** Undefined for a miss. */
  readonly result: GranaryResult | undefined;
  /** Recorded after the build had ended, so the time of the request is unknown. */
  readonly isNotedLater?: boolean;
  /** How long ago the request was, in ms, if it is noted late. */
  readonly agoMs?: number;
}

/** The prefetch of one build. The build's own requests always go first. */
export interface Prefetch {
  /** Resolves when a result or blob in transfer has arrived or failed. Undefined if it is not in transfer. */
  coming(request: ResultKey | Digest): Promise<void> | undefined;
  /**
   * Resolves when the index has been read. Results that are requested before that, and are in the index, are
   * fetched first. Undefined once the index has been read.
   */
  planning?(key: ResultKey): Promise<void> | undefined;
  /** How long ago a prefetched result arrived, in ms; undefined if it was not prefetched. */
  leadMs(key: ResultKey): number | undefined;
  /** Why a result was not prefetched in time. */
  whyNot(key: ResultKey): LateReason;
  /** When the index's builds requested it, in ms from their start. */
  firstMs?(key: ResultKey): number | undefined;
  /** The blobs that an index names for a result; empty if no index has it. */
  blobsOf?(key: ResultKey): readonly Digest[];
  /** Pauses prefetching while the build itself waits for the farm, until the returned function is called. */
  pauseForForeground(): () => void;
  /** Fetches announced results before all that are only expected. */
  hint(keys: readonly ResultKey[]): void;
}

/** A running build of this machine. Its requests are recorded for its report and its commit's index. */
export interface Build {
  readonly id: string;
  readonly project: string;
  /** The digest of its environment. Tools that do not identify their compilers share results within one environment only. */
  readonly environment: string;
  readonly prefetch: Prefetch | undefined;
  /** Returns false only if the farm certainly did not have the result when the build started. */
  mayBeAtFarm(key: ResultKey): boolean;
  /**
   * Resolves when the farm has reported quarantined results, or has not answered in time. Until then, a local result
   * may have to be dropped before it is returned. Undefined after that.
   */
  quarantineUpdates?(): Promise<void> | undefined;
  asked(key: ResultKey, what: ResultRequest): void;
  /** Notes that the build read or wrote a blob. */
  requestedBlob(digest: Digest): void;
  made(result: GranaryResult): void;
  /** Returns how long the result took to make, in ms since its miss, for tools that do not report it. Call it once for each result. */
  tookMs?(key: ResultKey): number | undefined;
  /**
   * Notes at which paths of the build's outputs the result is. When two results have the same first path, the later one
   * is there now.
   */
  knowsPlace?(key: ResultKey, paths: readonly string[]): void;
  /** Notes the commit that a tool's request names, for workspaces without one. */
  toldCommit?(commit: string, dirty: boolean): void;
}

/** The running builds of this machine. */
export interface BuildRegistry {
  /** Finds a build by the id in its tools' requests. Undefined: the request is served but not recorded. */
  find(id: string | undefined): Build | undefined;
  /** Returns the build of requests without an id: the only running build of that project, if there is exactly one. */
  only(project: string): Build | undefined;
  /** Returns the environment for requests of a project that belong to no known build. */
  environmentOf(project: string): Promise<string>;
}
