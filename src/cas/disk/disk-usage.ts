import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { StoredBlob } from "../evictable.ts";
import { digestOfFile } from "./disk-layout.ts";

export interface DiskUsage {
  readonly blobs: number;
  /** The sum of the blobs' own sizes; the file system rounds each one up to whole blocks. */
  readonly bytes: number;
  /** The free bytes that a process without root rights can use. */
  readonly freeBytes: number;
}

/** Yields the blobs of all shards. Skips blobs that are removed meanwhile. */
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

async function freeBytesIn(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

/** The size of the file system of a directory. */
export interface DiskSize {
  readonly bytes: number;
  /** The free bytes for a process without root rights. */
  readonly freeBytes: number;
}

export async function diskSizeOf(directory: string): Promise<DiskSize> {
  const { blocks, bavail, bsize } = await statfs(directory);
  return { bytes: blocks * bsize, freeBytes: bavail * bsize };
}
