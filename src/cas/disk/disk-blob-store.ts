import { type FileHandle, mkdir, open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Digest, emptyDigest, isEmptyDigest, uniqueDigests } from "#core/digest.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { turns } from "#scheduling/turns.ts";
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
  isHereNow,
  verifyFile,
  whereverItIs,
} from "./blob-files.ts";
import { errnoOf } from "./disk-fault.ts";
import { diskLayout, modifiedAt } from "./disk-layout.ts";
import { type DiskUsage, storedBlobs, usageOf } from "./disk-usage.ts";
import { quickReadIn } from "./quick-read.ts";
import { quickStatIn } from "./quick-stat.ts";

/** A blob store that stores each blob as a file in one directory. */
export interface DiskBlobStore extends BlobStore {
  /** The directory of temporary files. */
  readonly temp: string;
  /**
   * Returns the path of the blob's file, for links only: never write to it. Call `findMissing` first, because the file
   * may not exist.
   */
  path(digest: Digest): string;
  /** Stores bytes whose digest is only known at their end. Returns the digest. */
  take(chunks: AsyncIterable<Uint8Array>): Promise<Digest>;
  /** Renames a file of the same file system, whose bytes were checked, to the blob. Closes the file. */
  keepFile(digest: Digest, file: FileHandle, path: string): Promise<void>;
  /** Returns the digest of the blob with a hash; undefined when it is absent. */
  withHash(hash: string): Promise<Digest | undefined>;
  /** Removes a blob. Readers that have started can read it to the end. */
  remove(digest: Digest): Promise<void>;
  /** Yields every blob with its size and the time of its last use, in no order. */
  list(): AsyncIterable<StoredBlob>;
  /** Counts every file. Too slow to be called in a loop. */
  usage(): Promise<DiskUsage>;
}

/** libuv has four threads; a few calls more keep them busy. */
const callsAtOnce = 16;

/** Up to this size, a blob is read in one call. */
const quickBytes = 64 * 1024;
/** Up to this size, memory is allocated before the size of the file is checked. */
const smallBytes = 1024 * 1024;

interface DiskStoreOptions {
  /**
   * The directory of temporary files of another store on the same file system. Opening that other store removes what
   * killed processes left there.
   */
  readonly sharedTemp?: string;
  /**
   * Resolves when everything written so far is durable. Every write waits for it before it is confirmed, and so does
   * every check that reports a blob as present.
   */
  readonly durable?: (() => Promise<void>) | undefined;
}

/**
 * Opens a store, and creates its directory when it is new.
 *
 * A blob is written to a temporary file, which is renamed when its bytes match the digest. A killed process therefore
 * leaves no partial blob, and several processes may share the directory. Without `durable`, files are not synced: after
 * a power failure, a new file may be shorter than its digest states. It then counts as missing, which every reader must
 * expect anyway. A repeated write compares the blob with its file, and replaces a file whose bytes have changed.
 */
export async function openDiskBlobStore(
  directory: string,
  { sharedTemp, durable }: DiskStoreOptions = {},
): Promise<DiskBlobStore> {
  const layout = diskLayout(directory, sharedTemp);
  const { blobs, temp, path } = layout;
  const quick = await inDirectory({ directory }, async () => {
    await mkdir(blobs, { recursive: true });
    return { quickStat: await quickStatIn(blobs), quickRead: await quickReadIn(blobs) };
  });
  const files: BlobFiles = { ...layout, ...quick, directory, readers: 0 };
  const { keep, keepAs, name, settled } = fileWriter(files, durable);
  await inDirectory(files, async () => {
    if (sharedTemp === undefined) {
      await mkdir(temp, { recursive: true });
      await removeLeftovers(temp);
    }
    // Only callers of `path` need a file for the empty blob.
    await keep(emptyDigest, async () => {});
  });

  return {
    temp,
    path,
    list: () => storedBlobs(blobs),
    usage: () => inDirectory(files, () => usageOf(directory, blobs)),

    get: (digest) =>
      inDirectory(files, async () =>
        isEmptyDigest(digest) ? new Uint8Array() : wholeBlob(files, digest),
      ),

    read: (digest, range) =>
      inDirectory(files, async () => {
        const span = spanIn(digest, range);
        if (isEmptyDigest(digest)) return noBytes();
        const file = await whereverItIs(files, digest, statFile);
        return file?.size === digest.sizeBytes ? chunksOf(files, digest, span) : undefined;
      }),

    put: (digest, bytes, onWritten) =>
      inDirectory(files, async () => {
        await assertBytesMatch(digest, bytes, "invalid_argument");
        if (await isHereAs(files, digest, bytes)) {
          onWritten?.();
          return settled([digest]);
        }
        const aside = tempFileIn(temp);
        try {
          await writeNewFile(aside, bytes, modifiedAt);
          await name(digest, aside, onWritten);
        } catch (reason) {
          await rm(aside, { force: true });
          throw reason;
        }
      }),

    write: (digest, chunks) =>
      inDirectory(files, async () => {
        const right = matchingBytes(digest, chunks, "invalid_argument");
        if (await isHereIntact(files, digest)) {
          await drain(right);
          return settled([digest]);
        }
        await keep(digest, (file) => writeChunks(file, right));
      }),

    keepFile: (digest, file, aside) =>
      inDirectory(files, async () => {
        // In this order: a process killed in between leaves a file that is too old to continue its upload.
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
        const missing = await missingOf(files, digests);
        await settled(digests);
        return missing;
      }),

    verify: (digest) => inDirectory(files, () => verifyFile(files, digest)),

    remove: (digest) =>
      inDirectory(files, async () => {
        if (!isEmptyDigest(digest)) await rm(path(digest), { force: true });
      }),
  };
}

/** Reads a whole blob. The size of a large one is checked before memory is allocated for it. */
async function wholeBlob(files: BlobFiles, digest: Digest): Promise<Uint8Array | undefined> {
  if (digest.sizeBytes <= quickBytes) {
    const bytes = await files.quickRead.call(files.path(digest), digest.sizeBytes);
    if (bytes !== undefined) return bytes;
  }
  return whereverItIs(files, digest, async (place) => {
    if (digest.sizeBytes > smallBytes) {
      const { size } = await statFile(place);
      if (size !== digest.sizeBytes) return undefined;
    }
    return readFileOf(place, digest.sizeBytes);
  });
}

/** Returns those of the digests, each once, that have no file. */
async function missingOf(files: BlobFiles, digests: readonly Digest[]): Promise<Digest[]> {
  const missing: Digest[] = [];
  const unsure: Digest[] = [];
  /** The place of each of the unsure ones among the missing. */
  const places: number[] = [];
  const turn = turns();
  for (const digest of uniqueDigests(digests)) {
    const waiting = turn();
    if (waiting !== undefined) await waiting;
    const isKnownHere = isHereNow(files, digest);
    if (isKnownHere === true) continue;
    if (isKnownHere === undefined) {
      places.push(missing.length);
      unsure.push(digest);
    }
    missing.push(digest);
  }
  if (unsure.length === 0) return missing;
  const found = await mapAtMost(callsAtOnce, unsure, (digest) => isHere(files, digest));
  const here = new Set(places.filter((_, n) => found[n]));
  return missing.filter((_, n) => !here.has(n));
}

/** Returns functions that write a temporary file and give it the name of its blob. */
function fileWriter(
  { temp, path }: Pick<BlobFiles, "temp" | "path">,
  durable: (() => Promise<void>) | undefined,
) {
  /** Blobs, by hash, that are already renamed but may not be durable yet. */
  const unsettled = new Map<string, Promise<void>>();

  async function keep(digest: Digest, fill: (file: FileHandle) => Promise<void>): Promise<void> {
    await keepAs(async (file) => {
      await fill(file);
      return digest;
    });
  }

  /** Writes a temporary file, and names it by the digest that `fill` returns. */
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

  async function name(digest: Digest, aside: string, onNamed?: () => void): Promise<void> {
    await renameFile(aside, path(digest)).catch(async (reason: unknown) => {
      if (errnoOf(reason) !== "ENOENT") throw reason;
      await mkdir(dirname(path(digest)), { recursive: true });
      await renameFile(aside, path(digest));
    });
    if (durable === undefined) return;
    const { hash } = digest;
    const syncing = durable();
    unsettled.set(hash, syncing);
    onNamed?.();
    await syncing.finally(() => {
      if (unsettled.get(hash) === syncing) unsettled.delete(hash);
    });
  }

  /** Waits until blobs that other callers are writing are durable. */
  async function settled(digests: readonly Digest[]): Promise<void> {
    if (unsettled.size === 0) return;
    await Promise.all(digests.flatMap(({ hash }) => unsettled.get(hash) ?? []));
  }

  return { keep, keepAs, name, settled };
}

async function* noBytes(): AsyncGenerator<Uint8Array, void, undefined> {}
