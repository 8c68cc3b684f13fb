import { type FileHandle, mkdir, open, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { Digest, digestKey, emptyDigest, isEmptyDigest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { BlobStore } from "../blob-store.ts";
import { type ByteSpan, spanIn } from "../byte-span.ts";
import { hashedOnTheWay, startDigest } from "../digest-of.ts";
import type { StoredBlob } from "../evictable.ts";
import { readFileOf, renameFile, statFile, writeNewFile } from "../file-calls.ts";
import { mapAtMost } from "../map-at-most.ts";
import { assertBytesMatch, matchingBytes } from "../matching-bytes.ts";
import { readAhead } from "../read-ahead.ts";
import { removeLeftovers, tempFileIn } from "../temp-file.ts";
import { writeChunks } from "../write-chunks.ts";
import { diskFault, errnoOf } from "./disk-fault.ts";
import { diskLayout } from "./disk-layout.ts";
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

/**
 * Every blob has this modification time: what is linked into an input root then
 * looks the same on every worker. Use is kept in the access time alone.
 */
export const modifiedAt = new Date("2000-01-01T00:00:00Z");

/** Asking again within a minute writes nothing. */
const touchAfterMs = 60_000;

/** libuv has four threads; a few calls more keep them busy. */
const callsAtOnce = 16;

const readChunkBytes = 256 * 1024;
const leastChunkBytes = 16 * 1024;
/** A reader may stop in the middle of its blob, and then keeps what was read ahead for it. */
const allChunksBytes = 32 * 1024 * 1024;

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
  const { blobs, temp, path, leavingPath } = diskLayout(directory, sharedTemp);
  let readers = 0;
  await inDirectory(async () => {
    await mkdir(blobs, { recursive: true });
    if (sharedTemp === undefined) {
      await mkdir(temp, { recursive: true });
      await removeLeftovers(temp);
    }
    // Its file is for those who link it; all others are served without it.
    await keep(emptyDigest, async () => {});
  });

  function inDirectory<T>(work: () => Promise<T>): Promise<T> {
    return work().catch((reason: unknown) => {
      throw diskFault(reason, directory);
    });
  }

  /**
   * Looks for a file to read where it lies, where it is put while it is being removed, and, as it may have been
   * put back meanwhile, once more where it lies: who was told that a blob is here is not to find it gone.
   */
  async function whereverItIs<T>(
    digest: Digest,
    look: (path: string) => Promise<T>,
  ): Promise<T | undefined> {
    for (const place of [path(digest), leavingPath(digest), path(digest)]) {
      const found = await look(place).catch(absent);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async function openBlob(digest: Digest): Promise<FileHandle | undefined> {
    const file = await whereverItIs(digest, (place) => open(place, "r"));
    if (file === undefined) return undefined;
    if ((await file.stat()).size === digest.sizeBytes) return file;
    await file.close();
    return undefined;
  }

  /** Whether the blob is here; if so, it counts as used now. */
  async function isHere(digest: Digest): Promise<boolean> {
    if (isEmptyDigest(digest)) return true;
    const file = await statFile(path(digest)).catch(absent);
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

  /** Whether the blob is here with these bytes. One whose bytes have changed is to be replaced. */
  async function isHereAs(digest: Digest, bytes: Uint8Array): Promise<boolean> {
    if (!(await isHere(digest))) return false;
    if (isEmptyDigest(digest)) return true;
    const found = await readFileOf(path(digest), digest.sizeBytes).catch(absent);
    return found !== undefined && Buffer.compare(found, bytes) === 0;
  }

  /** Whether the blob is here, and its bytes are right: reads them all. */
  async function isHereIntact(digest: Digest): Promise<boolean> {
    if (!(await isHere(digest))) return false;
    try {
      await drain(matchingBytes(digest, chunksOf(digest, spanIn(digest, undefined)), "data_loss"));
      return true;
    } catch (reason) {
      const isLost = reason instanceof Fault && ["data_loss", "not_found"].includes(reason.code);
      if (!isLost) throw reason;
      return false;
    }
  }

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

  /** Opened by the first who takes a chunk: what is read and never looked at holds no file open. */
  async function* chunksOf(digest: Digest, { start, end }: ByteSpan) {
    if (start === end) return;
    const file = await inDirectory(() => openBlob(digest));
    if (file === undefined) {
      throw new Fault("not_found", `${digestKey(digest)} was removed before it was read`);
    }
    readers++;
    try {
      const most = Math.min(readChunkBytes, Math.floor(allChunksBytes / readers));
      yield* readAhead(file, { start, end }, Math.max(leastChunkBytes, most));
    } finally {
      readers--;
    }
  }

  return {
    temp,
    path,
    list: () => storedBlobs(blobs),
    usage: () => inDirectory(() => usageOf(directory, blobs)),

    get: (digest) =>
      inDirectory(async () => {
        if (isEmptyDigest(digest)) return new Uint8Array();
        return whereverItIs(digest, async (place) => {
          if (digest.sizeBytes > smallBytes) {
            const { size } = await statFile(place);
            if (size !== digest.sizeBytes) return undefined;
          }
          return readFileOf(place, digest.sizeBytes);
        });
      }),

    read: (digest, range) =>
      inDirectory(async () => {
        const span = spanIn(digest, range);
        if (isEmptyDigest(digest)) return noBytes();
        const file = await whereverItIs(digest, statFile);
        return file?.size === digest.sizeBytes ? chunksOf(digest, span) : undefined;
      }),

    put: (digest, bytes) =>
      inDirectory(async () => {
        await assertBytesMatch(digest, bytes, "invalid_argument");
        if (await isHereAs(digest, bytes)) return;
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
      inDirectory(async () => {
        const right = matchingBytes(digest, chunks, "invalid_argument");
        if (await isHereIntact(digest)) return drain(right);
        await keep(digest, (file) => writeChunks(file, right));
      }),

    keepFile: (digest, file, aside) =>
      inDirectory(async () => {
        // In this order: killed in between, we leave a file that is too old for anybody to go on with.
        await file.utimes(new Date(), modifiedAt);
        await file.chmod(0o444);
        await file.close();
        await name(digest, aside);
      }),

    take: (chunks) =>
      inDirectory(() =>
        keepAs(async (file) => {
          const running = startDigest();
          await writeChunks(file, hashedOnTheWay(chunks, running));
          return running.digest();
        }),
      ),

    withHash: (hash) =>
      inDirectory(async () => {
        const file = await stat(path(Digest.parse({ hash, sizeBytes: 0 }))).catch(absent);
        return file && Digest.parse({ hash, sizeBytes: file.size });
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
        if (!isEmptyDigest(digest)) await rm(path(digest), { force: true });
      }),
  };
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
