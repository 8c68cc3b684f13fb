import type { Digest } from "#core/digest.ts";
import type { Namespace } from "./namespaces/namespace.ts";

/** A blob whose bytes were read and compared with its digest. */
interface ScrubbedBlob {
  readonly namespace: Namespace;
  /** The digest from the blob's name and the file's size. */
  readonly digest: Digest;
  readonly isIntact: boolean;
}

/**
 * The checking of all blobs against their digests, so that a corrupt one is found before a build needs it.
 *
 * Reading for a check does not count as use for eviction.
 */
export interface Scrub {
  /** Returns the names of the pieces in which the storage is checked, always in the same order. */
  pieces(): Promise<string[]>;
  /** Checks the blobs of a piece, while blobs are added and removed. Blobs that cannot be read are left out. */
  check(piece: string): AsyncIterable<ScrubbedBlob>;
  /** Removes a blob if it is still corrupt; an intact copy may have replaced it. Returns whether it was removed. */
  removeCorrupt(namespace: Namespace, digest: Digest): Promise<boolean>;
}
