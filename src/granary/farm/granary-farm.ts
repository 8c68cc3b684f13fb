import type { Divergence, GranaryBuildReport } from "#api/granary.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import type { TransferLine } from "#commit-index/order-transfer.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import type { Digest } from "#core/digest.ts";
import type { Service } from "#core/service.ts";
import type {
  FetchResponse,
  FoundIndex,
  PublishResultsResponse_End,
} from "#proto/grange/granary/v1/granary_pb.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { IndexToPublish } from "../outbox/outbox.ts";

export interface WhichBuild {
  readonly project: string;
  readonly repository: string;
  readonly commits: readonly string[];
  readonly tree: string;
  readonly branch: string;
  readonly environment: string;
  /** The last known version of the quarantine; undefined: no update is requested. */
  readonly quarantineSince?: number;
  /** Requests the first results of the best index with the answer, up to this number of bytes; undefined: none. */
  readonly headBytes?: number;
}

export interface Resolved {
  readonly indexes: readonly FoundIndex[];
  /**
   * Returns false only for keys that the farm did not have when the filter was made; undefined when there are too many.
   */
  readonly mayHave: ((key: ResultKey) => boolean) | undefined;
  /** Indexes that arrived with the answer. Not yet compared with their digests. */
  readonly blobs?: readonly BlobAlong[];
  /** The best index's first results, if they were requested; not parsed yet. */
  readonly head?: readonly FetchResponse[];
  /** Undefined when it was not requested, or when the farm does not support it. */
  readonly quarantined?: { readonly results: readonly ResultKey[]; readonly version: number };
}

export type FetchRequest =
  | { readonly kind: "result"; readonly key: ResultKey }
  | { readonly kind: "blob"; readonly digest: Digest };

/** In the order of the requests. Blobs are not yet compared with their digests. */
export type FetchedThing =
  | { readonly kind: "result"; readonly result: GranaryResult }
  | {
      readonly kind: "part";
      readonly digest: Digest;
      readonly offset: number;
      readonly data: Uint8Array;
    }
  | { readonly kind: "absent"; readonly request: FetchRequest };

export interface FoundWithBlobs {
  readonly result: GranaryResult;
  readonly along: readonly BlobAlong[];
}

export interface BlobAlong {
  readonly digest: Digest;
  readonly data: Uint8Array;
}

/**
 * The granary's interface to the farm. Every call throws when the farm cannot be reached or is too slow; code between a
 * build and the farm calls `isAway` first, so that a build waits for an unreachable farm once and not at each request.
 */
export interface GranaryFarm extends Service {
  /** Returns whether calls are currently suspended: the last ones failed, and it is not yet time to retry. */
  isAway(): boolean;
  /** Returns the reason of the failed call; undefined while the farm is not away. */
  awayBecause?(): string | undefined;
  /** Undefined before anything was measured. */
  line(): TransferLine | undefined;
  resolve(build: WhichBuild, signal?: AbortSignal): Promise<Resolved>;
  /** Returns the existing results, complete. Calls at the same time share one request. */
  lookUp(project: string, keys: readonly ResultKey[]): Promise<GranaryResult[]>;
  /** Returns one result, with the blobs that the farm sends along. They are not verified yet. */
  lookUpWithBlobs(project: string, key: ResultKey): Promise<FoundWithBlobs | undefined>;
  fetch(
    project: string,
    requests: readonly FetchRequest[],
    signal: AbortSignal,
  ): AsyncIterable<FetchedThing>;
  /** The farm's blobs, checked against their digests. */
  blobs(project: string): BlobStore;
  publishResults(
    project: string,
    results: readonly GranaryResult[],
  ): Promise<PublishResultsResponse_End[]>;
  publishIndex(index: IndexToPublish, entries: Digest): Promise<void>;
  reportBuild(report: GranaryBuildReport): Promise<void>;
  reportDivergence(project: string, divergence: Divergence): Promise<void>;
}
