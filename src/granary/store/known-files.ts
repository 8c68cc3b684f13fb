import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type Digest, isEmptyDigest } from "#core/digest.ts";
import { KeySet, shortKey, shortKeyOf } from "./key-set.ts";
import type { StorePaths } from "./store-paths.ts";

/** This number takes about 1 ms; then other work runs. */
const checksPerTurn = 300;

/** File systems allocate space in blocks. */
const blockBytes = 4_096;

export function bytesOnDisk(sizeBytes: number): number {
  return Math.ceil(sizeBytes / blockBytes) * blockBytes;
}

/** The blobs that are files, as known in memory: 11 to 23 bytes per file. */
export interface KnownFiles {
  hasBlob(digest: Digest): boolean;
  blobIsHere(digest: Digest): void;
  blobIsGone(digest: Digest): void;
  /** Sets the bytes that a trim has counted file by file; in between they are an estimate. */
  bytesAre(bytes: number): void;
  counts(): { readonly blobs: number; readonly bytes: number };
  /** Reads the store's directories, a little at a time. Until it has finished, every query checks the disk. */
  count(signal: AbortSignal): Promise<void>;
}

export function knownFiles(paths: StorePaths): KnownFiles {
  const blobs = new KeySet();
  let bytes = 0;
  let isComplete = false;

  async function countBlobs(signal: AbortSignal): Promise<void> {
    let looks = 0;
    for (const shard of namesIn(paths.blobs)) {
      for (const name of namesIn(join(paths.blobs, shard))) {
        const file = statSync(join(paths.blobs, shard, name), { throwIfNoEntry: false });
        const key = shortKey(name.slice(name.indexOf("-") + 1));
        if (file !== undefined && blobs.add(key) && file.nlink === 1)
          bytes += bytesOnDisk(file.size);
        if (++looks % checksPerTurn !== 0) continue;
        await setImmediate();
        if (signal.aborted) return;
      }
    }
  }

  return {
    hasBlob(digest) {
      if (isEmptyDigest(digest)) return true;
      return isComplete ? blobs.has(shortKeyOf(digest)) : existsSync(paths.blob(digest));
    },
    blobIsHere(digest) {
      if (blobs.add(shortKeyOf(digest))) bytes += bytesOnDisk(digest.sizeBytes);
    },
    blobIsGone(digest) {
      if (blobs.delete(shortKeyOf(digest))) bytes -= bytesOnDisk(digest.sizeBytes);
    },
    bytesAre(counted) {
      bytes = counted;
    },
    counts: () => ({ blobs: blobs.size, bytes: Math.max(0, bytes) }),
    async count(signal) {
      await countBlobs(signal);
      isComplete = !signal.aborted;
    },
  };
}

/** Returns the names in a directory; none when it does not exist yet, or is a file. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
