import type { Digest } from "#core/digest.ts";
import type { NamespaceUsage } from "../blob-storage.ts";
import type { NamespacedBlob } from "../evictable.ts";
import type { Namespace } from "../namespaces/namespace.ts";

/** A blob of the index and the object with its bytes. */
export interface IndexedBlob {
  readonly digest: Digest;
  /** The key of the object. */
  readonly object: string;
}

/**
 * Which blobs a bucket has, and in which objects. All servers of a farm share it, so that no server has to list the
 * bucket, and each gives the same answer about a blob.
 *
 * Every upload gets an object of its own. An object is named here before it is sent, as *unnamed*: no blob names it
 * yet. So a server that dies leaves no object that nobody knows, and removing an old object of a blob cannot remove a
 * new one.
 */
export interface BlobIndex {
  /** Returns the blobs that are in the bucket, by `digestKey`, and records that they were used now. */
  use(namespace: Namespace, digests: readonly Digest[]): Promise<ReadonlySet<string>>;
  find(namespace: Namespace, digest: Digest): Promise<IndexedBlob | undefined>;
  findHash(namespace: Namespace, hash: string): Promise<Digest | undefined>;

  /**
   * Prepares the upload of a blob: does what `use` does, and for a blob that the bucket lacks also what `addUnnamed`
   * does, in one round trip. `known`: the bucket has the blob, so nothing has to be sent.
   */
  begin(namespace: Namespace, blob: IndexedBlob): Promise<"known" | "begun">;
  /** Records an object before it is sent. */
  addUnnamed(object: string): Promise<void>;
  /** Records that an unnamed object is sent in parts, which take space until they are joined or abandoned. */
  noteParts(object: string, upload: string): Promise<void>;
  /**
   * Makes an unnamed object, which must be complete, the object of a blob. Durable when this resolves. `known`: the blob
   * has another object, so this one must be removed. `expired`: the object is being removed, because it was unnamed for
   * too long.
   */
  name(namespace: Namespace, blob: IndexedBlob): Promise<"named" | "known" | "expired">;
  /**
   * Removes a blob; its object becomes unnamed and must be removed. With `before`, only if the blob was not used since;
   * with `object`, only if it still has this object. Returns the object; undefined when nothing was removed.
   */
  remove(
    namespace: Namespace,
    digest: Digest,
    condition: { readonly before?: Date; readonly object?: string },
  ): Promise<string | undefined>;
  /** Returns unnamed objects that must be removed, and keeps others from naming them. */
  abandoned(): Promise<readonly UnnamedObject[]>;
  /** Forgets objects that are no longer in the bucket. */
  forgetUnnamed(objects: readonly string[]): Promise<void>;

  /** Keeps the received part of an upload, whose object must be unnamed, for any server. Replaces an earlier one. */
  keepUpload(name: string, kept: KeptPart): Promise<void>;
  keptUpload(name: string): Promise<KeptPart | undefined>;
  /** Ends the keeping. Its object becomes unnamed. */
  dropUpload(name: string): Promise<void>;

  /** Yields every blob, or those of one namespace, in no order. */
  list(namespace?: Namespace): AsyncIterable<NamespacedBlob>;
  look(namespace: Namespace, digest: Digest): Promise<{ readonly lastUsedAt: Date } | undefined>;
  hasNamespace(namespace: Namespace): Promise<boolean>;
  addNamespace(namespace: Namespace): Promise<void>;
  /** Removes a namespace without blobs; returns whether it did. */
  removeNamespace(namespace: Namespace): Promise<boolean>;
  /** Returns all namespaces but that of the default project. */
  namespaces(): Promise<Namespace[]>;
  usage(namespace: Namespace): Promise<NamespaceUsage>;
}

interface UnnamedObject {
  readonly object: string;
  readonly upload: string | undefined;
}

/** The beginning of a blob whose upload was interrupted. */
export interface KeptPart {
  readonly object: string;
  readonly sizeBytes: number;
}
