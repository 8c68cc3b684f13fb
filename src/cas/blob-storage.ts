import type { Digest } from "#core/digest.ts";
import type { BlobStore } from "./blob-store.ts";
import type { Evictable } from "./evictable.ts";
import type { Namespace } from "./namespaces/namespace.ts";
import type { UploadStore } from "./upload-store.ts";

/**
 * Where a server keeps the blobs of all projects. The disk is one implementation.
 *
 * What is laid over it (checking of bytes, memory of what is here, limits of projects) is the same for all.
 */
export interface BlobStorage {
  /** The id of the farm whose blobs these are; undefined where no farm has taken the storage yet. */
  owner(): Promise<string | undefined>;
  /** Makes a farm the owner, whoever was it before. Durable when this resolves. */
  setOwner(farm: string): Promise<void>;
  /** The blobs of a namespace; undefined where there is none. The namespace of the default project always exists. */
  open(namespace: Namespace): Promise<NamespaceStorage | undefined>;
  /** Makes a namespace, unless it is there, and opens it. */
  create(namespace: Namespace): Promise<NamespaceStorage>;
  /** Those of projects other than the default one, as they are at the moment. */
  namespaces(): Promise<Namespace[]>;
  /** Counts every blob: for an operator's command, not for a loop. */
  usage(namespace: Namespace): Promise<NamespaceUsage>;
  /**
   * Removes those blobs of a namespace that nobody asked for since `before`, if that is given; then the namespace, if
   * nothing is left in it. Returns what is left. A blob that arrives in between is kept.
   */
  remove(namespace: Namespace, before: Date | undefined): Promise<NamespaceUsage>;
  /** Gives up uploads that were broken off too long ago. */
  sweepUploads(): Promise<void>;
  readonly evictable: Evictable;
}

/** The blobs of one namespace. */
export interface NamespaceStorage {
  readonly blobs: BlobStore & {
    /** Forgets a blob. Those who have begun to read it read on. */
    remove(digest: Digest): Promise<void>;
  };
  readonly uploads: Pick<UploadStore, "committed" | "receive">;
  readonly unnamed: UnnamedBlobs;
}

/** For clients that do not know the digest of what they send, or the size of what they ask for. */
export interface UnnamedBlobs {
  /** Keeps bytes of which nobody knows the digest before their end; returns it. */
  take(chunks: AsyncIterable<Uint8Array>): Promise<Digest>;
  /** The digest of a blob whose hash alone is known; undefined when it is not here. */
  withHash(hash: string): Promise<Digest | undefined>;
}

/** How much lies in a namespace. The empty blob, which each has, is left out. */
export interface NamespaceUsage {
  readonly blobs: number;
  readonly bytes: number;
}
