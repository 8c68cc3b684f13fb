import type { Stats } from "node:fs";
import { type FileHandle, open, utimes } from "node:fs/promises";
import { type Digest, digestKey, functionOf, isEmptyDigest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { type ByteSpan, spanIn } from "../byte-span.ts";
import { readFileOf, statFile } from "../file-calls.ts";
import { assertDigestsMatch, matchingBytes } from "../matching-bytes.ts";
import { readAhead } from "../read-ahead.ts";
import { diskFault, errnoOf } from "./disk-fault.ts";
import { type DiskLayout, modifiedAt } from "./disk-layout.ts";
import { hashFile } from "./hash-file.ts";
import type { QuickRead } from "./quick-read.ts";
import type { QuickStat } from "./quick-stat.ts";

/** A repeated check within a minute writes nothing. */
const touchAfterMs = 60_000;

const readChunkBytes = 256 * 1024;
const leastChunkBytes = 16 * 1024;
/** Chunks that are only hashed: a tenth less CPU time than with chunks of 256 KiB. */
const hashChunkBytes = 1024 * 1024;
/** The limit for all chunks that were read ahead, because a reader may pause in the middle of its blob. */
const allChunksBytes = 4 * 1024 * 1024;

/** The files of a store, for reading. */
export interface BlobFiles extends DiskLayout {
  readonly directory: string;
  readonly quickStat: QuickStat;
  readonly quickRead: QuickRead;
  /** How many blobs are being read; they share the memory for reading ahead. */
  readers: number;
}

export function inDirectory<T>(
  files: Pick<BlobFiles, "directory">,
  work: () => Promise<T>,
): Promise<T> {
  return work().catch((reason: unknown) => {
    throw diskFault(reason, files.directory);
  });
}

/** Servers whose eviction may move one blob at the same moment. */
const mostMovers = 2;

/**
 * Looks for a file at its place, then at the place to which it is moved while it is being removed, and then once more
 * at its own place, because it may have been put back: if a client learned that a blob exists, it must find it. Each
 * server that looked at the blob before its last use may move it once, and put it back.
 */
export async function whereverItIs<T>(
  files: BlobFiles,
  digest: Digest,
  look: (path: string) => Promise<T>,
): Promise<T | undefined> {
  const own = () => look(files.path(digest)).catch(absent);
  let found = await own();
  for (let mover = 0; found === undefined && mover < mostMovers; mover++)
    found = (await look(files.leavingPath(digest)).catch(absent)) ?? (await own());
  return found;
}

async function openBlob(files: BlobFiles, digest: Digest): Promise<FileHandle | undefined> {
  const file = await whereverItIs(files, digest, (place) => open(place, "r"));
  if (file === undefined) return undefined;
  if ((await file.stat()).size === digest.sizeBytes) return file;
  await file.close();
  return undefined;
}

/**
 * Returns whether the blob exists, without waiting for the disk. Undefined when that is not possible now, or when the
 * blob has to be marked as used.
 */
export function isHereNow(files: BlobFiles, digest: Digest): boolean | undefined {
  if (isEmptyDigest(digest)) return true;
  if (!files.quickStat.mayCall()) return undefined;
  const file = files.quickStat.call(files.path(digest));
  if (file?.size !== digest.sizeBytes) return false;
  return wasUsedJustNow(file) || undefined;
}

/** Returns whether the blob exists; if so, marks it as used now. */
export async function isHere(files: BlobFiles, digest: Digest): Promise<boolean> {
  if (isEmptyDigest(digest)) return true;
  const file = await statFile(files.path(digest)).catch(absent);
  if (file?.size !== digest.sizeBytes) return false;
  if (wasUsedJustNow(file)) return true;
  // Another process may have just removed it. After any other failure, eviction only sees an older time of last use.
  const isTouched = await utimes(files.path(digest), new Date(), modifiedAt).then(
    () => true,
    (reason: unknown) => errnoOf(reason) !== "ENOENT",
  );
  if (!isTouched) return false;
  // The kernel first finds the file and then changes its time. Eviction may move it in between, after reading the old
  // time: only a file that is at its place after the change is certain to stay.
  return (await statFile(files.path(digest)).catch(absent)) !== undefined;
}

function wasUsedJustNow({ atimeMs }: Pick<Stats, "atimeMs">): boolean {
  return Date.now() - atimeMs <= touchAfterMs;
}

/** Returns whether the blob exists with these bytes. A file whose bytes have changed has to be replaced. */
export async function isHereAs(
  files: BlobFiles,
  digest: Digest,
  bytes: Uint8Array,
): Promise<boolean> {
  if (!(isHereNow(files, digest) ?? (await isHere(files, digest)))) return false;
  if (isEmptyDigest(digest)) return true;
  const found = await readFileOf(files.path(digest), digest.sizeBytes).catch(absent);
  return found !== undefined && Buffer.compare(found, bytes) === 0;
}

/** Returns whether the blob exists with the right bytes; reads all of them. */
export async function isHereIntact(files: BlobFiles, digest: Digest): Promise<boolean> {
  if (!(isHereNow(files, digest) ?? (await isHere(files, digest)))) return false;
  try {
    await drain(
      matchingBytes(digest, chunksOf(files, digest, spanIn(digest, undefined)), "data_loss"),
    );
    return true;
  } catch (reason) {
    const isLost = reason instanceof Fault && ["data_loss", "not_found"].includes(reason.code);
    if (!isLost) throw reason;
    return false;
  }
}

/** Compares a blob with its digest. See `BlobStore.verify`. */
export async function verifyFile(files: BlobFiles, digest: Digest): Promise<boolean> {
  if (isEmptyDigest(digest)) return true;
  const file = await openBlob(files, digest);
  if (file === undefined) return false;
  files.readers++;
  try {
    const most = Math.min(hashChunkBytes, Math.floor(allChunksBytes / (2 * files.readers)));
    const chunkBytes = Math.min(digest.sizeBytes, Math.max(leastChunkBytes, most));
    const actual = await hashFile(file, functionOf(digest), chunkBytes);
    assertDigestsMatch(digest, actual, "data_loss");
    return true;
  } finally {
    files.readers--;
    await file.close();
  }
}

/** Yields a range of a file. Opens it at the first chunk, so that a stream that is never read holds no file open. */
export async function* chunksOf(files: BlobFiles, digest: Digest, { start, end }: ByteSpan) {
  if (start === end) return;
  const file = await inDirectory(files, () => openBlob(files, digest));
  if (file === undefined) {
    throw new Fault("not_found", `${digestKey(digest)} was removed before it was read`);
  }
  files.readers++;
  try {
    const most = Math.min(readChunkBytes, Math.floor(allChunksBytes / files.readers));
    yield* readAhead(file, { start, end }, Math.max(leastChunkBytes, most));
  } finally {
    files.readers--;
  }
}

/** Returns undefined for "no such file"; rethrows all other errors. */
export function absent(reason: unknown): undefined {
  const errno = errnoOf(reason);
  if (errno !== "ENOENT" && errno !== "ENOTDIR") throw reason;
  return undefined;
}

export async function drain(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}
