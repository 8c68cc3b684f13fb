import type { Digest } from "#core/digest.ts";

/** Which bytes of a blob to read. Both in bytes of the blob itself. */
export interface ByteRange {
  readonly offset: number;
  /** Reads to the end when absent. */
  readonly limit?: number;
}

/**
 * Bytes by their digest.
 *
 * Every way of keeping blobs, and every layer laid over one (checking, caching,
 * counting), has this shape. The server stacks them; the rest of the farm sees one.
 */
export interface BlobStore {
  /** The whole blob, for those known to be small; undefined when it is not here. */
  get(digest: Digest): Promise<Uint8Array | undefined>;
  /**
   * Returns the blob as a stream of chunks; undefined when it is absent.
   *
   * Nothing is opened before the first chunk is read. When the blob is removed before that, reading fails with
   * `not_found`; a reader that has the first chunk gets all.
   */
  read(digest: Digest, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Keeps a blob. Throws `invalid_argument`, and keeps nothing, when the bytes are not those of the digest. */
  put(digest: Digest, bytes: Uint8Array): Promise<void>;
  /**
   * Keeps a blob that arrives in chunks, under the same rule as `put`. A store of another machine gives the
   * upload up when the signal is aborted, and throws `cancelled`; others may ignore it.
   */
  write(digest: Digest, chunks: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<void>;
  /** Returns those of the digests, each once, that are absent. Extends the life of the others. */
  findMissing(digests: readonly Digest[]): Promise<Digest[]>;
}
