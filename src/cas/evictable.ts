import type { Digest } from "#core/digest.ts";
import type { Namespace } from "./namespaces/namespace.ts";

/** A blob as eviction looks at it. */
export interface StoredBlob {
  readonly digest: Digest;
  readonly lastUsedAt: Date;
}

/** A blob of some project's. */
export interface NamespacedBlob extends StoredBlob {
  readonly namespace: Namespace;
}

/** The blobs of all projects, for code that makes room. */
export interface Evictable {
  /** Every blob, in no order, while others come and go. */
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
