import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { StoredBlob } from "../evictable.ts";
import { digestOfFile } from "./disk-layout.ts";

export interface DiskUsage {
  readonly blobs: number;
  /** Sum of the blobs' own sizes; the file system rounds each up to its blocks. */
  readonly bytes: number;
  /** The free bytes that a process without root's rights can use. */
  readonly freeBytes: number;
}

/** Yields the blobs of all shards. Blobs that are removed meanwhile are skipped. */
export async function* storedBlobs(blobs: string): AsyncGenerator<StoredBlob, void, undefined> {
  for (const shard of await readdir(blobs)) {
    for (const name of await readdir(join(blobs, shard)).catch(() => [])) {
      const file = await stat(join(blobs, shard, name)).catch(() => undefined);
      const digest = file && digestOfFile(name, file.size);
      if (digest) yield { digest, lastUsedAt: file.atime };
    }
  }
}

export async function usageOf(directory: string, blobs: string): Promise<DiskUsage> {
  let count = 0;
  let bytes = 0;
  for await (const { digest } of storedBlobs(blobs)) {
    count++;
    bytes += digest.sizeBytes;
  }
  return { blobs: count, bytes, freeBytes: await freeBytesIn(directory) };
}

/** Cheap enough to ask before every job. */
export async function freeBytesIn(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

/** Of the file system that a directory lies on. */
export interface DiskSize {
  readonly bytes: number;
  /** What is left to a process that is not root's. */
  readonly freeBytes: number;
}

export async function diskSizeOf(directory: string): Promise<DiskSize> {
  const { blocks, bavail, bsize } = await statfs(directory);
  return { bytes: blocks * bsize, freeBytes: bavail * bsize };
}
