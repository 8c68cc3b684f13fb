import { type FileHandle, mkdir, open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Digest, digestKey, emptyDigest, isEmptyDigest } from "#core/digest.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import type { BlobStore } from "../blob-store.ts";
import { spanIn } from "../byte-span.ts";
import { hashedOnTheWay, startDigest } from "../digest-of.ts";
import type { StoredBlob } from "../evictable.ts";
import { readFileOf, renameFile, statFile, writeNewFile } from "../file-calls.ts";
import { assertBytesMatch, matchingBytes } from "../matching-bytes.ts";
import { removeLeftovers, tempFileIn } from "../temp-file.ts";
import { writeChunks } from "../write-chunks.ts";
import {
  absent,
  type BlobFiles,
  chunksOf,
  drain,
  inDirectory,
  isHere,
  isHereAs,
  isHereIntact,
  whereverItIs,
} from "./blob-files.ts";
import { errnoOf } from "./disk-fault.ts";
import { diskLayout, modifiedAt } from "./disk-layout.ts";
import { type DiskUsage, storedBlobs, usageOf } from "./disk-usage.ts";

/** Blobs as files of one directory. */
export interface DiskBlobStore extends BlobStore {
  /** Where it writes aside. */
  readonly temp: string;
  /**
   * The file that is, or would be, the blob: to be linked, never written. Ask
   * `findMissing` first.
   */
  path(digest: Digest): string;
  /** Keeps bytes of which nobody knows the digest before their end; answers it. */
  take(chunks: AsyncIterable<Uint8Array>): Promise<Digest>;
  /** Makes a file of the same file system the blob whose bytes it is known to have; closes it. */
  keepFile(digest: Digest, file: FileHandle, path: string): Promise<void>;
  /** The digest of a blob whose hash alone is known; undefined when it is not here. */
  withHash(hash: string): Promise<Digest | undefined>;
  /** Forgets a blob. Those who have begun to read it read on. */
  remove(digest: Digest): Promise<void>;
  /** Every blob with its size and when it was last asked for, in no order. */
  list(): AsyncIterable<StoredBlob>;
  /** Counts every file: for a page, not for a loop. */
  usage(): Promise<DiskUsage>;
}

/** libuv has four threads; a few calls more keep them busy. */
const callsAtOnce = 16;

/** Memory is set aside for so much before it is known that the blob is there. */
const smallBytes = 1024 * 1024;

/**
 * Opens a store, and creates its directory when it is new.
 *
 * A blob is written aside and renamed when its bytes are right, so that a killed
 * process leaves no half blob, and several processes may share the directory. It
 * is not synced: after a power cut a young file may be shorter than its digest,
 * and then counts as missing, which every reader must expect anyway. A blob that is
 * written again is compared with its file, and replaces one whose bytes have changed.
 *
 * @param sharedTemp Of another store of the same file system, for what is being written: whoever opens that one
 * removes what was left there.
 */
export async function openDiskBlobStore(
  directory: string,
  sharedTemp?: string,
): Promise<DiskBlobStore> {
  const files: BlobFiles = { ...diskLayout(directory, sharedTemp), directory, readers: 0 };
  const { blobs, temp, path } = files;
  await inDirectory(files, async () => {
    await mkdir(blobs, { recursive: true });
    if (sharedTemp === undefined) {
      await mkdir(temp, { recursive: true });
      await removeLeftovers(temp);
    }
    // Its file is for those who link it; all others are served without it.
    await keep(emptyDigest, async () => {});
  });

  async function keep(digest: Digest, fill: (file: FileHandle) => Promise<void>): Promise<void> {
    await keepAs(async (file) => {
      await fill(file);
      return digest;
    });
  }

  /** Writes a file aside, and names it as `fill` says in the end. */
  async function keepAs(fill: (file: FileHandle) => Promise<Digest>): Promise<Digest> {
    const aside = tempFileIn(temp);
    try {
      const file = await open(aside, "wx", 0o444);
      let digest: Digest;
      try {
        digest = await fill(file);
        await file.utimes(new Date(), modifiedAt);
      } finally {
        await file.close();
      }
      await name(digest, aside);
      return digest;
    } catch (reason) {
      await rm(aside, { force: true });
      throw reason;
    }
  }

  async function name(digest: Digest, aside: string): Promise<void> {
    await renameFile(aside, path(digest)).catch(async (reason: unknown) => {
      if (errnoOf(reason) !== "ENOENT") throw reason;
      await mkdir(dirname(path(digest)), { recursive: true });
      await renameFile(aside, path(digest));
    });
  }

  return {
    temp,
    path,
    list: () => storedBlobs(blobs),
    usage: () => inDirectory(files, () => usageOf(directory, blobs)),

    get: (digest) =>
      inDirectory(files, async () => {
        if (isEmptyDigest(digest)) return new Uint8Array();
        return whereverItIs(files, digest, async (place) => {
          if (digest.sizeBytes > smallBytes) {
            const { size } = await statFile(place);
            if (size !== digest.sizeBytes) return undefined;
          }
          return readFileOf(place, digest.sizeBytes);
        });
      }),

    read: (digest, range) =>
      inDirectory(files, async () => {
        const span = spanIn(digest, range);
        if (isEmptyDigest(digest)) return noBytes();
        const file = await whereverItIs(files, digest, statFile);
        return file?.size === digest.sizeBytes ? chunksOf(files, digest, span) : undefined;
      }),

    put: (digest, bytes) =>
      inDirectory(files, async () => {
        await assertBytesMatch(digest, bytes, "invalid_argument");
        if (await isHereAs(files, digest, bytes)) return;
        const aside = tempFileIn(temp);
        try {
          await writeNewFile(aside, bytes, modifiedAt);
          await name(digest, aside);
        } catch (reason) {
          await rm(aside, { force: true });
          throw reason;
        }
      }),

    write: (digest, chunks) =>
      inDirectory(files, async () => {
        const right = matchingBytes(digest, chunks, "invalid_argument");
        if (await isHereIntact(files, digest)) return drain(right);
        await keep(digest, (file) => writeChunks(file, right));
      }),

    keepFile: (digest, file, aside) =>
      inDirectory(files, async () => {
        // In this order: killed in between, we leave a file that is too old for anybody to go on with.
        await file.utimes(new Date(), modifiedAt);
        await file.chmod(0o444);
        await file.close();
        await name(digest, aside);
      }),

    take: (chunks) =>
      inDirectory(files, () =>
        keepAs(async (file) => {
          const running = startDigest();
          await writeChunks(file, hashedOnTheWay(chunks, running));
          return running.digest();
        }),
      ),

    withHash: (hash) =>
      inDirectory(files, async () => {
        const file = await stat(path(Digest.parse({ hash, sizeBytes: 0 }))).catch(absent);
        return file && Digest.parse({ hash, sizeBytes: file.size });
      }),

    findMissing: (digests) =>
      inDirectory(files, async () => {
        const asked = new Map(digests.map((d) => [digestKey(d), d]));
        const all = [...asked.values()];
        const here = await mapAtMost(callsAtOnce, all, (digest) => isHere(files, digest));
        return all.filter((_, index) => !here[index]);
      }),

    remove: (digest) =>
      inDirectory(files, async () => {
        if (!isEmptyDigest(digest)) await rm(path(digest), { force: true });
      }),
  };
}

async function* noBytes(): AsyncGenerator<Uint8Array, void, undefined> {}
