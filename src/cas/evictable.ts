import type { Digest } from "#core/digest.ts";
import type { Namespace } from "./namespaces/namespace.ts";

/** A blob with the facts that eviction needs. */
export interface StoredBlob {
  readonly digest: Digest;
  readonly lastUsedAt: Date;
}

/** A blob of a project. */
export interface NamespacedBlob extends StoredBlob {
  readonly namespace: Namespace;
}

/** The blobs of all projects, for eviction. */
export interface Evictable {
  /** Yields every blob, in no order, while blobs are added and removed. */
  list(): AsyncIterable<NamespacedBlob>;
  /** Returns the facts about a blob without counting as a use of it. */
  look(namespace: Namespace, digest: Digest): Promise<StoredBlob | undefined>;
  /**
   * Removes a blob unless it was used since `before`; returns whether it did. A client that learns meanwhile that the
   * blob exists can still read it.
   */
  removeUnused(namespace: Namespace, digest: Digest, before: Date): Promise<boolean>;
  /** Puts back the blobs that a crashed process was removing. */
  putBack(): Promise<void>;
}
