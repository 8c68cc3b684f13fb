import type { BlobStore } from "./blob-store.ts";

/** The traffic of a store since it was opened. The numbers only increase. */
interface BlobTraffic {
  /** Calls of `get` and `read` that found their blob, that found none, and that were interrupted. */
  reads: number;
  readMisses: number;
  readFailures: number;
  bytesRead: number;
  /** Calls of `put` and `write` that stored their blob, and that were refused or interrupted. */
  writes: number;
  writeFailures: number;
  /** Bytes of the blobs that were stored. */
  bytesWritten: number;
  /** The number of digests in calls of `findMissing`, and how many of them were absent. */
  asked: number;
  missing: number;
}

export function noTraffic(): BlobTraffic {
  return {
    reads: 0,
    readMisses: 0,
    readFailures: 0,
    bytesRead: 0,
    writes: 0,
    writeFailures: 0,
    bytesWritten: 0,
    asked: 0,
    missing: 0,
  };
}

/** Counts the traffic of a store in `traffic`. */
export function counting(base: BlobStore, traffic: BlobTraffic): BlobStore {
  async function countRead<T>(read: () => Promise<T | undefined>): Promise<T | undefined> {
    try {
      const found = await read();
      if (found === undefined) traffic.readMisses++;
      else traffic.reads++;
      return found;
    } catch (reason) {
      traffic.readFailures++;
      throw reason;
    }
  }

  async function countWrite(sizeBytes: number, write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (reason) {
      traffic.writeFailures++;
      throw reason;
    }
    traffic.writes++;
    traffic.bytesWritten += sizeBytes;
  }

  async function* countChunks(chunks: AsyncIterable<Uint8Array>) {
    try {
      for await (const chunk of chunks) {
        traffic.bytesRead += chunk.byteLength;
        yield chunk;
      }
    } catch (reason) {
      traffic.readFailures++;
      throw reason;
    }
  }

  return {
    async get(digest) {
      const bytes = await countRead(() => base.get(digest));
      traffic.bytesRead += bytes?.byteLength ?? 0;
      return bytes;
    },

    async read(digest, range) {
      const chunks = await countRead(() => base.read(digest, range));
      return chunks && countChunks(chunks);
    },

    put: (digest, bytes, onWritten) =>
      countWrite(digest.sizeBytes, () => base.put(digest, bytes, onWritten)),
    write: (digest, chunks) => countWrite(digest.sizeBytes, () => base.write(digest, chunks)),

    async findMissing(digests) {
      const missing = await base.findMissing(digests);
      traffic.asked += digests.length;
      traffic.missing += missing.length;
      return missing;
    },
  };
}
