import type { ByteRange } from "#cas/blob-store.ts";
import type { Digest } from "#core/digest.ts";
import type { Service } from "#core/service.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { ActionResult } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { CacheCounter } from "./cache-counts.ts";
import type { CacheEntry, EntryName, NewCacheEntry } from "./tool-rules.ts";

/** The bytes of an entry or a blob. Those in one piece are known to be right. */
export type Value =
  | { readonly kind: "bytes"; readonly digest: Digest; readonly bytes: Uint8Array }
  | {
      readonly kind: "stream";
      readonly digest: Digest;
      readonly chunks: AsyncIterable<Uint8Array>;
    };

export interface ValueLookup {
  readonly range?: ByteRange;
  /** Only whether it is there. */
  readonly headOnly?: boolean;
  /** A stream, too, begins only when all of it is known to be right. */
  readonly certain?: boolean;
}

/** What build tools keep, by name, each among the blobs of its project. */
export interface Caches extends Service {
  readonly counter: CacheCounter;
  find(name: EntryName): Promise<CacheEntry | undefined>;
  findMany(names: readonly EntryName[]): Promise<CacheEntry[]>;
  /** An entry's bytes; undefined when they are gone, and then it is an entry no more. */
  valueOf(entry: CacheEntry, lookup: ValueLookup): Promise<Value | undefined>;
  /** A blob that anybody put into the project, by its hash. */
  blobWith(project: string, hash: string): Promise<Digest | undefined>;
  blobValue(project: string, digest: Digest, lookup: ValueLookup): Promise<Value | undefined>;
  /**
   * An ActionResult all of whose blobs are there, from whoever made it; or what was put in place of one.
   * `domain` is the reader's; `protected` when absent.
   */
  actionResult(
    name: EntryName,
    hash: string,
    lookup: ValueLookup,
    domain?: TrustDomain,
  ): Promise<Value | undefined>;
  /** The result of an action that somebody put there over HTTP, for those who ask by gRPC. */
  resultPutFor(project: string, action: Digest): Promise<ActionResult | undefined>;
  /** Takes in bytes. They are kept, but nothing names them yet. */
  take(project: string, chunks: AsyncIterable<Uint8Array>): Promise<Digest>;
  /** The same where all is known already: the store need not write what it has. */
  takeAs(project: string, digest: Digest, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** Durable when it resolves. "refused" when there is one, and `again` is "refuse". */
  keep(entry: NewCacheEntry, again: "replace" | "refuse"): Promise<"kept" | "refused">;
  remove(name: EntryName): Promise<boolean>;
}
