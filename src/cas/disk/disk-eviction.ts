import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Digest, isEmptyDigest } from "#core/digest.ts";
import type { StoredBlob } from "../evictable.ts";
import { diskFault, errnoOf } from "./disk-fault.ts";
import { digestOfFile, diskLayout } from "./disk-layout.ts";
import { storedBlobs } from "./disk-usage.ts";

/** The eviction of blobs from a directory. */
export interface DiskEviction {
  /** Yields every blob, in no order, while blobs are added and removed. */
  list(): AsyncIterable<StoredBlob>;
  /** Returns the facts about a blob without counting as a use of it. */
  look(digest: Digest): Promise<StoredBlob | undefined>;
  /** Removes a blob unless it was requested since `before`; returns whether it did. */
  removeUnused(digest: Digest, before: Date): Promise<boolean>;
  /** Puts back the blobs that a crashed process was removing. */
  putBack(): Promise<void>;
}

/**
 * Evicts from the directory of a `DiskBlobStore` while any number of processes serve it.
 *
 * A process that reports a blob as present sets its access time first, by its name. So a blob is first moved away from
 * that name and then checked. If its time is new, it is put back. Otherwise it is deleted; from the move on, other
 * processes do not find the name and report the blob as missing. Readers also look at the temporary place.
 */
export async function openDiskEviction(directory: string): Promise<DiskEviction> {
  const { blobs, path, leaving, leavingPath } = diskLayout(directory);
  await inDirectory(async () => {
    await mkdir(blobs, { recursive: true });
    await mkdir(leaving, { recursive: true });
  });

  function inDirectory<T>(work: () => Promise<T>): Promise<T> {
    return work().catch((reason: unknown) => {
      throw diskFault(reason, directory);
    });
  }

  return {
    list: () => storedBlobs(blobs),

    look: (digest) =>
      inDirectory(async () => {
        if (isEmptyDigest(digest)) return { digest, lastUsedAt: new Date() };
        const file = await stat(path(digest)).catch(absent);
        return file?.size === digest.sizeBytes ? { digest, lastUsedAt: file.atime } : undefined;
      }),

    removeUnused: (digest, before) =>
      inDirectory(async () => {
        if (isEmptyDigest(digest)) return false;
        const seen = await stat(path(digest)).catch(absent);
        if (seen === undefined || seen.atime >= before) return false;
        const away = leavingPath(digest);
        const move = () => rename(path(digest), away).then(() => true, absent);
        // The directory may have been removed with its project, which may have been started again.
        if (!(await move())) {
          await mkdir(leaving, { recursive: true });
          if (!(await move())) return false;
        }
        const now = await stat(away).catch(absent);
        if (now !== undefined && now.atime >= before) {
          await rename(away, path(digest)).catch(absent);
          return false;
        }
        await rm(away, { force: true });
        return now !== undefined;
      }),

    putBack: () =>
      inDirectory(async () => {
        for (const name of await readdir(leaving)) {
          const file = await stat(join(leaving, name)).catch(absent);
          const digest = file && digestOfFile(name, file.size);
          if (digest) await rename(join(leaving, name), path(digest)).catch(absent);
        }
      }),
  };
}

function absent(reason: unknown): undefined {
  if (errnoOf(reason) !== "ENOENT") throw reason;
  return undefined;
}
