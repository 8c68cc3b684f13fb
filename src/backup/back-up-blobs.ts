import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { diskLayout } from "#cas/disk/disk-layout.ts";
import { blobsOfShard, shards } from "#cas/disk/list-blobs.ts";
import { syncDirectory } from "#machine/write-durably.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { blobLine, type ListedBlob } from "./blob-list.ts";
import { writeCompressed } from "./checked-file.ts";
import { copyBlob } from "./copy-blob.ts";
import type { BackupLayout, OneBackup } from "./layout.ts";
import type { Manifest } from "./manifest.ts";

/** libuv has four threads, which mostly wait for the disk. */
const copiedAtOnce = 8;

export interface BlobProgress {
  readonly blobs: number;
  readonly bytes: number;
  readonly copied: number;
  readonly copiedBytes: number;
}

/**
 * Copies every blob of a store that the directory of backups lacks, and writes the list of all of them.
 *
 * Runs after the database was read, so every blob that a row refers to was already in the store. The caller pauses
 * eviction; a blob that disappears anyway is counted as removed.
 */
export async function backUpBlobs(
  store: string,
  layout: BackupLayout,
  backup: OneBackup,
  onProgress: (progress: BlobProgress) => void,
  signal: AbortSignal,
): Promise<Manifest["blobs"]> {
  const sum = { count: 0, bytes: 0, copied: 0, copiedBytes: 0, damaged: 0, removed: 0 };

  const backUp = async (blob: ListedBlob): Promise<string | undefined> => {
    const { digest, namespace } = blob;
    const from = diskLayout(join(store, namespace)).path(digest);
    const outcome = await copyBlob(digest, from, layout.blob(digest), layout.temp, { mode: 0o600 });
    switch (outcome) {
      case "missing":
        sum.removed++;
        return undefined;
      case "damaged":
        sum.damaged++;
        return undefined;
      case "copied":
        sum.copied++;
        sum.copiedBytes += digest.sizeBytes;
        break;
      case "present":
        break;
    }
    sum.count++;
    sum.bytes += digest.sizeBytes;
    return blobLine(blob);
  };

  async function* lines(): AsyncGenerator<string, void, undefined> {
    for (const shard of shards) {
      await mkdir(layout.shard(shard), { recursive: true, mode: 0o700 });
      const before = sum.copied;
      for await (const some of blobsOfShard(store, shard)) {
        signal.throwIfAborted();
        const written = await mapAtMost(copiedAtOnce, some, backUp);
        yield written.filter((line) => line !== undefined).join("");
        onProgress({ ...sum, blobs: sum.count });
      }
      if (sum.copied > before) await syncDirectory(layout.shard(shard));
    }
  }

  const list = await writeCompressed(backup.blobList, lines());
  return { list, ...sum };
}
