import type { ByteRange } from "#cas/blob-store.ts";
import type { Digest } from "#core/digest.ts";
import type { Service } from "#core/service.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { ActionResult } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { CacheCounter } from "./cache-counts.ts";
import type { CacheEntry, EntryName, EntryQuery, NewCacheEntry } from "./tool-rules.ts";

/** The bytes of an entry or a blob. A value in one piece is already verified. */
export type Value =
  | { readonly kind: "bytes"; readonly digest: Digest; readonly bytes: Uint8Array }
  | {
      readonly kind: "stream";
      readonly digest: Digest;
      readonly chunks: AsyncIterable<Uint8Array>;
    };

export interface ValueLookup {
  readonly range?: ByteRange;
  /** Only whether the value exists. */
  readonly headOnly?: boolean;
  /** A stream also begins only after the whole value was verified. */
  readonly certain?: boolean;
}

/** The caches of build tools, by name; their bytes are among the blobs of the project. */
export interface Caches extends Service {
  readonly counter: CacheCounter;
  /** Returns the entry of the reader's own domain, or else that of `protected`. */
  find(query: EntryQuery): Promise<CacheEntry | undefined>;
  findMany(queries: readonly EntryQuery[]): Promise<CacheEntry[]>;
  /** Returns an entry's bytes; undefined when they are missing, and then the entry is deleted. */
  valueOf(entry: CacheEntry, lookup: ValueLookup): Promise<Value | undefined>;
  /** Returns a blob of the project by its hash, from any writer. */
  blobWith(project: string, hash: string): Promise<Digest | undefined>;
  blobValue(project: string, digest: Digest, lookup: ValueLookup): Promise<Value | undefined>;
  /**
   * Returns an ActionResult that the reader may read if all its blobs exist; or the data that was stored in its place.
   */
  actionResult(query: EntryQuery, hash: string, lookup: ValueLookup): Promise<Value | undefined>;
  /** Returns the result of an action that was written over HTTP, for clients of gRPC. */
  resultPutFor(
    project: string,
    action: Digest,
    reader: TrustDomain,
  ): Promise<ActionResult | undefined>;
  /** Stores bytes to which no entry refers yet. */
  take(project: string, chunks: AsyncIterable<Uint8Array>): Promise<Digest>;
  /** Like `take`, with a known digest: the store need not write existing bytes. */
  takeAs(project: string, digest: Digest, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** Durable when it resolves. "refused" when an entry exists and `again` is "refuse". */
  keep(entry: NewCacheEntry, again: "replace" | "refuse"): Promise<"kept" | "refused">;
  /** Removes an entry of one domain. Entries of that name in other domains stay. */
  remove(name: EntryName, domain: TrustDomain): Promise<boolean>;
}
