import type { Digest } from "#core/digest.ts";
import type { BlobStore } from "./blob-store.ts";
import type { Evictable } from "./evictable.ts";
import type { Namespace } from "./namespaces/namespace.ts";
import type { Scrub } from "./scrub.ts";
import type { UploadStore } from "./upload-store.ts";

/**
 * The storage of the blobs of all projects. On a disk, or in a bucket with copies on the disk.
 *
 * The layers above it (checking of bytes, caching of existence, limits of projects) are the same for all.
 */
export interface BlobStorage {
  /** The id of the farm that owns the blobs; undefined when no farm has used the storage yet. */
  owner(): Promise<string | undefined>;
  /** Makes a farm the owner, regardless of the previous owner. Durable when this resolves. */
  setOwner(farm: string): Promise<void>;
  /**
   * Returns the blobs of a namespace; undefined when it does not exist. The namespace of the default project always
   * exists.
   */
  open(namespace: Namespace): Promise<NamespaceStorage | undefined>;
  /** Creates a namespace if it does not exist, and opens it. */
  create(namespace: Namespace): Promise<NamespaceStorage>;
  /** Returns the current namespaces of projects other than the default one. */
  namespaces(): Promise<Namespace[]>;
  /** Counts every blob, so it is for an operator's command and not for a loop. */
  usage(namespace: Namespace): Promise<NamespaceUsage>;
  /**
   * Removes the blobs of a namespace that were not used since `before`, if given; then the namespace, if it is empty.
   * Returns what remains. A blob that arrives meanwhile is kept.
   */
  remove(namespace: Namespace, before: Date | undefined): Promise<NamespaceUsage>;
  /** Deletes uploads that were interrupted too long ago. */
  sweepUploads(): Promise<void>;
  readonly evictable: Evictable;
  /** Absent when the storage itself protects its blobs against corruption. */
  readonly scrub?: Scrub;
  /** Absent when the storage is a part of this machine. Rejects when it does not answer. */
  readonly ask?: () => Promise<void>;
  /** Ends the work in the background. No other method may be called afterwards. */
  stop(): Promise<void>;
}

/** The blobs of one namespace. */
export interface NamespaceStorage {
  readonly blobs: BlobStore & {
    /** Removes a blob whose bytes were found corrupt. Readers that have started can read it to the end. */
    remove(digest: Digest): Promise<void>;
  };
  readonly uploads: Pick<UploadStore, "committed" | "receive">;
  readonly unnamed: UnnamedBlobs;
}

/** For clients that do not know the digest of their upload, or the size of the blob that they request. */
export interface UnnamedBlobs {
  /** Stores bytes whose digest is only known at their end; returns the digest. */
  take(chunks: AsyncIterable<Uint8Array>): Promise<Digest>;
  /** Returns the digest of the blob with a hash; undefined when it is absent. */
  withHash(hash: string): Promise<Digest | undefined>;
}

/** The number and size of the blobs in a namespace, without the empty blob, which every namespace has. */
export interface NamespaceUsage {
  readonly blobs: number;
  readonly bytes: number;
}
