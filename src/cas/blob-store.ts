import type { Digest } from "#core/digest.ts";

/** A range of a blob to read. Both fields count bytes of the blob itself. */
export interface ByteRange {
  readonly offset: number;
  /** Reads to the end when absent. */
  readonly limit?: number;
}

/**
 * Stores bytes by their digest.
 *
 * Every storage and every layer over one (checking, caching, counting) has this interface. The server combines them;
 * the rest of the farm uses one.
 */
export interface BlobStore {
  /** Returns the whole blob, for blobs that are known to be small; undefined when it is absent. */
  get(digest: Digest): Promise<Uint8Array | undefined>;
  /**
   * Returns the blob as a stream of chunks; undefined when it is absent.
   *
   * Nothing is opened before the first chunk is read. When the blob is removed before that, reading fails with
   * `not_found`; a reader that has the first chunk gets all chunks.
   */
  read(digest: Digest, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>;
  /**
   * Stores a blob. Throws `invalid_argument` and stores nothing when the bytes do not match the digest.
   *
   * A store may call `onWritten` when the blob holds no file and no connection any more and only waits for a sync or a
   * statement that others share. A caller with many blobs then begins with the next one. Only the returned promise says
   * that the blob is stored.
   */
  put(digest: Digest, bytes: Uint8Array, onWritten?: () => void): Promise<void>;
  /**
   * Stores a blob that arrives in chunks, under the same rule as `put`. When the signal is aborted, a remote store
   * aborts the upload and throws `cancelled`; other stores may ignore the signal.
   */
  write(digest: Digest, chunks: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<void>;
  /** Returns those of the digests, each once, that are absent. Extends the life of the others. */
  findMissing(digests: readonly Digest[]): Promise<Digest[]>;
  /**
   * Reads a whole blob only to compare it with its digest; false when it is absent. Throws `data_loss` when its bytes
   * differ. Only stores have it that can do this with less CPU time than `read`; other callers hash what `read` returns.
   */
  readonly verify?: (digest: Digest) => Promise<boolean>;
}
