import { type FileHandle, mkdir, open, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { type Digest, digestKey, emptyDigest } from "#core/digest.ts";
import type { BlobStore } from "./blob-store.ts";
import { spanIn } from "./byte-span.ts";
import { diskFault, errnoOf } from "./disk-fault.ts";
import { diskLayout } from "./disk-layout.ts";
import { type DiskUsage, type StoredBlob, storedBlobs, usageOf } from "./disk-usage.ts";
import { mapAtMost } from "./map-at-most.ts";
import { assertBytesMatch, matchingBytes } from "./matching-bytes.ts";
import { removeLeftovers, tempFileIn } from "./temp-file.ts";

/** Blobs as files of one directory. */
export interface DiskBlobStore extends BlobStore {
  /**
   * The file that is, or would be, the blob: to be linked, never written. Ask
   * `findMissing` first.
   */
  path(digest: Digest): string;
  /** Forgets a blob. Those who read it at this moment read on. */
  remove(digest: Digest): Promise<void>;
  /** Every blob with its size and when it was last asked for, in no order. */
  list(): AsyncIterable<StoredBlob>;
  /** Counts every file: for a page, not for a loop. */
  usage(): Promise<DiskUsage>;
}

/**
 * Every blob has this modification time: what is linked into an input root then
 * looks the same on every worker. Use is kept in the access time alone.
 */
const modifiedAt = new Date("2000-01-01T00:00:00Z");

/** Asking again within a minute writes nothing. */
const touchAfterMs = 60_000;

/** libuv has four threads; a few calls more keep them busy. */
const callsAtOnce = 16;

const readChunkBytes = 256 * 1024;

/**
 * Opens a store, and creates its directory when it is new.
 *
 * A blob is written aside and renamed when its bytes are right, so that a killed
 * process leaves no half blob, and several processes may share the directory. It
 * is not synced: after a power cut a young file may be shorter than its digest,
 * and then counts as missing, which every reader must expect anyway.
 */
export async function openDiskBlobStore(directory: string): Promise<DiskBlobStore> {
  const { blobs, temp, path } = diskLayout(directory);
  await inDirectory(async () => {
    await mkdir(blobs, { recursive: true });
    await mkdir(temp, { recursive: true });
    await removeLeftovers(temp);
    // Its file is for those who link it; all others are served without it.
    await keep(emptyDigest, async () => {});
  });

  function inDirectory<T>(work: () => Promise<T>): Promise<T> {
    return work().catch((reason: unknown) => {
      throw diskFault(reason, directory);
    });
  }

  async function openBlob(digest: Digest): Promise<FileHandle | undefined> {
    const file = await open(path(digest), "r").catch(absent);
    if (file === undefined) return undefined;
    if ((await file.stat()).size === digest.sizeBytes) return file;
    await file.close();
    return undefined;
  }

  /** Whether the blob is here; if so, it counts as used now. */
  async function isHere(digest: Digest): Promise<boolean> {
    if (isEmpty(digest)) return true;
    const file = await stat(path(digest)).catch(absent);
    if (file?.size !== digest.sizeBytes) return false;
    if (Date.now() - file.atimeMs > touchAfterMs) {
      // Another process may have removed it a moment ago. Any other failure costs
      // only that eviction takes the blob for less used than it is.
      return utimes(path(digest), new Date(), modifiedAt).then(
        () => true,
        (reason: unknown) => errnoOf(reason) !== "ENOENT",
      );
    }
    return true;
  }

  async function keep(digest: Digest, fill: (file: FileHandle) => Promise<void>): Promise<void> {
    const aside = tempFileIn(temp);
    try {
      const file = await open(aside, "wx", 0o444);
      try {
        await fill(file);
        await file.utimes(new Date(), modifiedAt);
      } finally {
        await file.close();
      }
      await rename(aside, path(digest)).catch(async (reason: unknown) => {
        if (errnoOf(reason) !== "ENOENT") throw reason;
        await mkdir(dirname(path(digest)), { recursive: true });
        await rename(aside, path(digest));
      });
    } catch (reason) {
      await rm(aside, { force: true });
      throw reason;
    }
  }

  return {
    path,
    list: () => storedBlobs(blobs),
    usage: () => inDirectory(() => usageOf(directory, blobs)),

    get: (digest) =>
      inDirectory(async () => {
        if (isEmpty(digest)) return new Uint8Array();
        const file = await openBlob(digest);
        if (file === undefined) return undefined;
        try {
          return await file.readFile();
        } finally {
          await file.close();
        }
      }),

    read: (digest, range) =>
      inDirectory(async () => {
        const { start, end } = spanIn(digest, range);
        if (isEmpty(digest)) return noBytes();
        const file = await openBlob(digest);
        if (file === undefined) return undefined;
        if (start < end) {
          return file.createReadStream({ start, end: end - 1, highWaterMark: readChunkBytes });
        }
        await file.close();
        return noBytes();
      }),

    put: (digest, bytes) =>
      inDirectory(async () => {
        await assertBytesMatch(digest, bytes, "invalid_argument");
        if (await isHere(digest)) return;
        await keep(digest, (file) => file.writeFile(bytes));
      }),

    write: (digest, chunks) =>
      inDirectory(async () => {
        const right = matchingBytes(digest, chunks, "invalid_argument");
        if (await isHere(digest)) return drain(right);
        await keep(digest, async (file) => {
          for await (const chunk of right) await file.writeFile(chunk);
        });
      }),

    findMissing: (digests) =>
      inDirectory(async () => {
        const asked = new Map(digests.map((d) => [digestKey(d), d]));
        const all = [...asked.values()];
        const here = await mapAtMost(callsAtOnce, all, isHere);
        return all.filter((_, index) => !here[index]);
      }),

    remove: (digest) =>
      inDirectory(async () => {
        if (!isEmpty(digest)) await rm(path(digest), { force: true });
      }),
  };
}

/** A hash that only claims to be of no bytes is not among them. */
function isEmpty(digest: Digest): boolean {
  return digest.hash === emptyDigest.hash && digest.sizeBytes === 0;
}

/** Takes "there is no such file" as an answer; everything else stays a failure. */
function absent(reason: unknown): undefined {
  const errno = errnoOf(reason);
  if (errno !== "ENOENT" && errno !== "ENOTDIR") throw reason;
  return undefined;
}

async function drain(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}

async function* noBytes(): AsyncGenerator<Uint8Array, void, undefined> {}
