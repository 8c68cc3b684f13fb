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

const usualLimits: UploadLimits = {
  mostUploads: 1_000,
  mostBytes: 16 * 1024 ** 3,
  keptForMs: 60 * 60_000,
};

const readBytes = 1024 * 1024;

/** Uploads into one store; and, within the same limits, into others of its file system. */
interface DiskUploads extends UploadStore {
  /** Names of uploads must tell the stores apart. */
  into(other: DiskBlobStore): Pick<UploadStore, "committed" | "receive">;
}

interface Running {
  /** What is here when it is broken off now. */
  receivedBytes: number;
  isInterrupted: boolean;
  readonly interrupt: () => void;
  readonly over: Promise<void>;
}

/**
 * Uploads into a disk store, in a directory beside its blobs:
 *
 *     uploads/<pid>~…~<key>   one that a process writes
 *     uploads/<key>           one that was broken off
 *
 * The key is a hash of the upload's name. To go on, a file is renamed to one's own
 * name, which only one of several processes can do; what a killed process wrote is
 * given back when the next one opens the directory.
 */
export async function openDiskUploads(
  directory: string,
  disk: DiskBlobStore,
  limits: UploadLimits = usualLimits,
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

  /** Once for all that ask meanwhile: a thousand uploads that break off at once would each look at a thousand. */
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

  /** Makes what is kept of an upload this process's own, cut off at `offset`. */
  async function goOn(aside: string, key: string, { digest, offset }: Upload): Promise<FileHandle> {
    const isClaimed = await rename(kept(key), aside).then(() => true, absent);
    let file: FileHandle | undefined;
    try {
      file = isClaimed ? await open(aside, "r+") : undefined;
      const sizeBytes = (await file?.stat())?.size ?? 0;
      if (file === undefined || sizeBytes < offset) throw notSoFar(digest, offset, sizeBytes);
      await file.truncate(offset);
      return file;
    } catch (reason) {
      await file?.close();
      if (isClaimed) await rename(aside, kept(key));
      throw reason;
    }
  }

  async function receive(
    to: DiskBlobStore,
    upload: Upload,
    key: string,
    progress: Running,
  ): Promise<void> {
    const { digest, offset } = upload;
    const aside = `${tempFileIn(uploads)}~${key}`;
    const file = await (offset > 0 ? goOn(aside, key, upload) : open(aside, "wx", 0o600));
    progress.receivedBytes = offset;
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
        // Else each of a client's tries would read all of it before it lets the next one in.
        if (!progress.isInterrupted || sizeBytes === offset) continue;
        isBrokenOff = true;
        throw new Fault("aborted", "another call goes on with this upload");
      }
      await writeChunks(file, chunks());
      assertIs(digest, digesting.digest(), offset);
      await to.keepFile(digest, file, aside);
    } catch (reason) {
      await file.close().catch(() => {});
      if (isBrokenOff && progress.receivedBytes > 0) {
        await rename(aside, kept(key));
        await removeTooMany();
      } else await rm(aside, { force: true });
      throw reason;
    }
  }

  const into = (to: DiskBlobStore): Pick<UploadStore, "committed" | "receive"> => ({
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
        // The client is here again, and its last call has not noticed that it is dead. One that
        // begins at 0 needs nothing of that call; moon uploads equal files at once by one name.
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
          await receive(to, upload, key, progress);
        } finally {
          if (running.get(key) === progress) running.delete(key);
          end();
        }
      }),
  });

  return {
    ...into(disk),
    into,
    sweep: () =>
      inDirectory(async () => {
        await giveBack(uploads);
        await removeTooMany();
      }),
  };
}

/** Makes what dead processes were writing into what can be gone on with. */
async function giveBack(uploads: string): Promise<void> {
  for (const name of await readdir(uploads)) {
    const key = name.split("~")[3];
    if (key === undefined) continue;
    const file = await stat(join(uploads, name)).catch(() => undefined);
    if (file === undefined || !isLeftover(name, file, Date.now())) continue;
    await rename(join(uploads, name), join(uploads, key)).catch(() => {});
  }
}

/** Takes in what is in a file up to `size`, and says after each step how far it is. */
async function* digestFile(file: FileHandle, size: number, digesting: RunningDigest) {
  const buffer = Buffer.allocUnsafe(Math.min(size, readBytes));
  for (let at = 0; at < size; ) {
    // By the file's own position: what is written next goes behind it.
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
  // What was kept may have been hurt here, by a power cut; only a whole upload accuses the client.
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
