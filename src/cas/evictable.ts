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

/** The blobs of all projects, as whoever makes room among them sees them. */
export interface Evictable {
  /** Every blob, in no order, while others come and go. */
  list(): AsyncIterable<NamespacedBlob>;
  /** What is known of a blob, without taking that for a use of it. */
  look(namespace: Namespace, digest: Digest): Promise<StoredBlob | undefined>;
  /**
   * Removes a blob unless it was asked for since `before`; returns whether it did. Whoever is told meanwhile that
   * the blob is here finds it.
   */
  removeUnused(namespace: Namespace, digest: Digest, before: Date): Promise<boolean>;
  /** Puts back what a process that died was removing. */
  putBack(): Promise<void>;
}
