import type { Digest } from "#core/digest.ts";
import type { Namespace } from "./namespaces/namespace.ts";

/** A blob whose bytes were read and compared with its digest. */
interface ScrubbedBlob {
  readonly namespace: Namespace;
  /** What the blob's name says of it, and the size that it has. */
  readonly digest: Digest;
  readonly isIntact: boolean;
}

/**
 * The checking of all blobs against their digests, so that a corrupt one is found before a build needs it.
 *
 * Reading for a check is no use of a blob: eviction does not see it.
 */
export interface Scrub {
  /** The names of the pieces that the storage is checked in, always in the same order. */
  pieces(): Promise<string[]>;
  /** Checks the blobs of a piece, while others come and go. Blobs that cannot be read are left out. */
  check(piece: string): AsyncIterable<ScrubbedBlob>;
  /** Removes a blob if it is corrupt still; a whole one may have taken its place. Returns whether it did. */
  removeCorrupt(namespace: Namespace, digest: Digest): Promise<boolean>;
}
