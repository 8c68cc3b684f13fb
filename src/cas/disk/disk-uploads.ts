import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Digest, digestKey, functionOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { type RunningDigest, startDigest } from "../digest-of.ts";
import { wrongSize } from "../matching-bytes.ts";
import { isLeftover, tempFileIn } from "../temp-file.ts";
import { type KeptUpload, tooMany, type UploadLimits } from "../upload-limits.ts";
import { notSoFar, type Upload, type UploadStore } from "../upload-store.ts";
import { writeChunks } from "../write-chunks.ts";
import type { DiskBlobStore } from "./disk-blob-store.ts";
import { diskFault, errnoOf } from "./disk-fault.ts";
import { type FileCopy, growing, type StartCopy } from "./file-copy.ts";

const defaultLimits: UploadLimits = {
  mostUploads: 1_000,
  mostBytes: 16 * 1024 ** 3,
  keptForMs: 60 * 60_000,
};

const readBytes = 1024 * 1024;

/** Uploads into one store, and within the same limits into other stores of its file system. */
export interface DiskUploads extends UploadStore {
  /**
   * Two stores must not use the same name for an upload. With `startCopy`, a blob is stored only after its copy is
   * complete.
   */
  into(other: DiskBlobStore, startCopy?: StartCopy): Pick<UploadStore, "committed" | "receive">;
  /** Opens the received part of an interrupted upload for reading; undefined when there is none. */
  openPart(name: string): Promise<FileHandle | undefined>;
  /** Stores the received part of an upload that was interrupted elsewhere, in place of an earlier one. */
  keepPart(name: string, chunks: AsyncIterable<Uint8Array>): Promise<void>;
}

interface Running {
  /** The bytes that are kept if the upload is interrupted now. */
  receivedBytes: number;
  isInterrupted: boolean;
  readonly interrupt: () => void;
  readonly over: Promise<void>;
}

/**
 * Uploads into a disk store, in a directory beside its blobs:
 *
 *     uploads/<pid>~…~<key>   an upload that a process writes
 *     uploads/<key>           an interrupted upload
 *
 * The key is a hash of the upload's name. To continue an upload, a process renames its file to its own name, which
 * only one of several processes can do. The next process that opens the directory releases the files of killed
 * processes.
 */
export async function openDiskUploads(
  directory: string,
  disk: DiskBlobStore,
  limits: UploadLimits = defaultLimits,
): Promise<DiskUploads> {
  const uploads = join(directory, "uploads");
  const running = new Map<string, Running>();
  const kept = (key: string) => join(uploads, key);
  let removing: Promise<void> | undefined;
  let removingNext: Promise<void> | undefined;
  await inDirectory(async () => {
    await mkdir(uploads, { recursive: true });
    await giveBack(uploads);
    await removeTooMany();
  });

  function inDirectory<T>(work: () => Promise<T>): Promise<T> {
    return work().catch((reason: unknown) => {
      throw diskFault(reason, directory);
    });
  }

  /**
   * Runs once for all callers that arrive meanwhile: otherwise a thousand uploads that are interrupted at once would
   * each list a thousand files.
   */
  function removeTooMany(): Promise<void> {
    removingNext ??= (async () => {
      await removing?.catch(() => {});
      removing = removingNext;
      removingNext = undefined;
      await removeTooManyNow();
    })();
    return removingNext;
  }

  async function removeTooManyNow(): Promise<void> {
    const all: KeptUpload[] = [];
    for (const name of await readdir(uploads)) {
      if (name.includes("~")) continue;
      const file = await stat(kept(name)).catch(() => undefined);
      if (file) all.push({ name, sizeBytes: file.size, writtenAtMs: file.mtimeMs });
    }
    for (const { name } of tooMany(all, limits, Date.now())) await rm(kept(name), { force: true });
  }

  const into = (
    to: DiskBlobStore,
    startCopy?: StartCopy,
  ): Pick<UploadStore, "committed" | "receive"> => ({
    committed: (name) =>
      inDirectory(async () => {
        const key = keyOf(name);
        const now = running.get(key);
        if (now !== undefined) return now.receivedBytes;
        return (await stat(kept(key)).catch(absent))?.size ?? 0;
      }),

    receive: (upload) =>
      inDirectory(async () => {
        const key = keyOf(upload.name);
        // The client has reconnected, but its last call has not noticed the broken connection. An upload from 0 does
        // not need that call's data, and that call continues; moon uploads equal files at the same time under one name.
        for (
          let last = running.get(key);
          upload.offset > 0 && last !== undefined;
          last = running.get(key)
        ) {
          last.isInterrupted = true;
          last.interrupt();
          await last.over;
        }
        let end = () => {};
        const over = new Promise<void>((resolve) => {
          end = resolve;
        });
        const { interrupt } = upload;
        const progress = { receivedBytes: 0, isInterrupted: false, interrupt, over };
        running.set(key, progress);
        try {
          const parts = { uploads, keptOne: removeTooMany, to, startCopy };
          await receiveInto(parts, upload, key, progress);
        } finally {
          if (running.get(key) === progress) running.delete(key);
          end();
        }
      }),
  });

  return {
    ...into(disk),
    into,
    openPart: (name) => inDirectory(() => open(kept(keyOf(name)), "r").catch(absent)),
    keepPart: (name, chunks) =>
      inDirectory(async () => {
        const key = keyOf(name);
        const aside = `${tempFileIn(uploads)}~${key}`;
        const file = await open(aside, "wx", 0o600);
        try {
          await writeChunks(file, chunks);
          await file.close();
          await rename(aside, kept(key));
        } catch (reason) {
          await file.close().catch(() => {});
          await rm(aside, { force: true });
          throw reason;
        }
        await removeTooMany();
      }),
    sweep: () =>
      inDirectory(async () => {
        await giveBack(uploads);
        await removeTooMany();
      }),
  };
}

/** Takes over the file of an upload that was interrupted, and truncates it to `offset`. */
async function resume(
  aside: string,
  kept: string,
  { digest, offset }: Upload,
): Promise<FileHandle> {
  const isClaimed = await rename(kept, aside).then(() => true, absent);
  let file: FileHandle | undefined;
  try {
    file = isClaimed ? await open(aside, "r+") : undefined;
    const sizeBytes = (await file?.stat())?.size ?? 0;
    if (file === undefined || sizeBytes < offset) throw notSoFar(digest, offset, sizeBytes);
    await file.truncate(offset);
    return file;
  } catch (reason) {
    await file?.close();
    if (isClaimed) await rename(aside, kept);
    throw reason;
  }
}

/**
 * Writes an upload to a file, and makes the file the blob when its digest is right. An interrupted upload is kept, and
 * `keptOne` is called.
 */
async function receiveInto(
  {
    uploads,
    keptOne,
    to,
    startCopy,
  }: {
    readonly uploads: string;
    readonly keptOne: () => Promise<void>;
    readonly to: DiskBlobStore;
    readonly startCopy: StartCopy | undefined;
  },
  upload: Upload,
  key: string,
  progress: Running,
): Promise<void> {
  const { digest, offset } = upload;
  const aside = `${tempFileIn(uploads)}~${key}`;
  const file = await (offset > 0
    ? resume(aside, join(uploads, key), upload)
    : open(aside, "wx+", 0o600));
  progress.receivedBytes = offset;
  let copy: FileCopy | undefined;
  const digesting = startDigest(functionOf(digest));
  let isBrokenOff = false;
  async function* chunks() {
    const incoming = upload.chunks[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await incoming.next().catch((reason: unknown) => {
        isBrokenOff = true;
        throw reason;
      });
      if (done) return;
      digesting.update(value);
      assertFits(digest, digesting.sizeBytes);
      progress.receivedBytes = digesting.sizeBytes;
      yield value;
    }
  }
  try {
    for await (const sizeBytes of digestFile(file, offset, digesting)) {
      // Otherwise each attempt of the client would read the whole file before the next one can take over.
      if (!progress.isInterrupted || sizeBytes === offset) continue;
      isBrokenOff = true;
      throw new Fault("aborted", "another call continues this upload");
    }
    copy = startCopy?.(digest, file);
    await writeChunks(copy === undefined ? file : growing(file, offset, copy), chunks());
    assertIs(digest, digesting.digest(), offset);
    await copy?.finish();
    await to.keepFile(digest, file, aside);
  } catch (reason) {
    await copy?.abandon().catch(() => {});
    await file.close().catch(() => {});
    if (isBrokenOff && progress.receivedBytes > 0) {
      await rename(aside, join(uploads, key));
      await keptOne();
    } else await rm(aside, { force: true });
    throw reason;
  }
}

/** Makes the files of ended processes available, so that their uploads can continue. */
async function giveBack(uploads: string): Promise<void> {
  for (const name of await readdir(uploads)) {
    const key = name.split("~")[3];
    if (key === undefined) continue;
    const file = await stat(join(uploads, name)).catch(() => undefined);
    if (file === undefined || !isLeftover(name, file, Date.now())) continue;
    await rename(join(uploads, name), join(uploads, key)).catch(() => {});
  }
}

/** Hashes a file up to `size`. Yields the number of bytes after each step. */
async function* digestFile(file: FileHandle, size: number, digesting: RunningDigest) {
  const buffer = Buffer.allocUnsafe(Math.min(size, readBytes));
  for (let at = 0; at < size; ) {
    // Reads at the file's own position, so that the next write continues there.
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.byteLength, size - at));
    if (bytesRead === 0) break;
    digesting.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
    yield at;
  }
}

function assertFits(digest: Digest, sizeBytes: number): void {
  if (sizeBytes > digest.sizeBytes) throw wrongSize(digest, sizeBytes, "invalid_argument");
}

function assertIs(digest: Digest, actual: Digest, offset: number): void {
  if (digestKey(actual) === digestKey(digest)) return;
  const problem = `${digestKey(digest)} was expected, but the bytes are ${digestKey(actual)}`;
  // A power failure may have damaged the kept part; only an upload that was received in one call proves a mistake of
  // the client.
  throw offset > 0
    ? new Fault("aborted", `${problem}; begin the upload again at 0`)
    : new Fault("invalid_argument", problem);
}

function keyOf(name: string): string {
  return createHash("sha256").update(name).digest("hex");
}

function absent(reason: unknown): undefined {
  if (errnoOf(reason) !== "ENOENT") throw reason;
  return undefined;
}
