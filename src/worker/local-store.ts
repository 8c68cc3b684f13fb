import { lstatSync } from "node:fs";
import {
  chmod,
  constants,
  copyFile,
  link,
  lstat,
  mkdir,
  rename,
  rm,
  utimes,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { BlobStore } from "#cas/blob-store.ts";
import { errnoOf } from "#cas/disk/disk-fault.ts";
import { tempFileIn } from "#cas/temp-file.ts";
import { type Digest, hexOf } from "#core/digest.ts";
import { giveToJobs } from "#machine/job-owner.ts";
import { makePrivateDirectory } from "#machine/make-directory.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { FileFetches } from "./file-fetches.ts";
import { InputsMissing } from "./inputs-missing.ts";
import { RetryWindow } from "./retry-window.ts";
import { SealedFiles } from "./sealed-files.ts";

/**
 * The modes of a checkout: a job may write its inputs. It writes to its own copy, because these files are only in lower
 * layers of an overlay, or are copied.
 */
const modes = { plain: 0o644, executable: 0o755 } as const;

/** The same on every machine, so that tools see no difference. In seconds: 2010-01-01. */
export const inputMtime = 1_262_304_000;

/** The number of files that are checked before other tasks get their turn; about 2 ms. */
const looksInOneGo = 500;

export interface WantedFile {
  readonly digest: Digest;
  readonly executable: boolean;
}

/**
 * The blobs of this machine, as files that can be linked into trees.
 *
 *     blobs/2c/2cf24dba…     hard-linked into layers
 *     blobs/2c/2cf24dba….x   the same bytes, executable: a mode belongs to the inode
 *     temp/…                 large ones being written; renamed when whole and checked
 *
 * All workers of the machine share it without locks: a file with its final name and its seal (`inputMtime`) is complete
 * and never changes, and creating it twice has the same result.
 */
export class LocalStore {
  readonly #blobs: string;
  readonly #temp: string;
  readonly #fetches: FileFetches;

  private constructor(directory: string, retryWindow: RetryWindow) {
    this.#blobs = join(directory, "blobs");
    this.#temp = join(directory, "temp");
    const sealed = new SealedFiles(inputMtime);
    this.#fetches = new FileFetches(
      {
        path: (file) => this.path(file),
        has: (file) => this.#has(file),
        copyTwin: (file) => this.#copyTwin(file),
        writeAside: (file, fill) => this.#writeAside(file, fill),
        make: (files) =>
          sealed.make(
            files.map((each) => ({ ...each, path: this.path(each.file), mode: modeOf(each.file) })),
          ),
      },
      retryWindow,
    );
  }

  static async open(directory: string, retryWindow = new RetryWindow()): Promise<LocalStore> {
    const store = new LocalStore(directory, retryWindow);
    makePrivateDirectory(store.#temp);
    makePrivateDirectory(store.#blobs);
    const shards = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, "0"));
    await mapAtMost(16, shards, (shard) => mkdir(join(store.#blobs, shard), { recursive: true }));
    return store;
  }

  get blobsDirectory(): string {
    return this.#blobs;
  }

  get tempDirectory(): string {
    return this.#temp;
  }

  path({ digest, executable }: WantedFile): string {
    const name = executable ? `${digest.hash}.x` : digest.hash;
    return join(this.#blobs, hexOf(digest).slice(0, 2), name);
  }

  /** Makes all of these files present. Throws InputsMissing with all blobs that the farm does not have. */
  async fetch(files: readonly WantedFile[], farm: BlobStore): Promise<void> {
    const wanted = new Map(files.map((file) => [this.path(file), file]));
    const absent: WantedFile[] = [];
    let looked = 0;
    // Synchronously: a call in the thread pool costs ten times as much as a check.
    for (const file of wanted.values()) {
      if (!this.#has(file)) absent.push(file);
      if (++looked % looksInOneGo === 0) await setImmediate();
    }
    const missing = await this.#fetches.fetch(absent, farm);
    if (missing.length > 0) throw new InputsMissing(missing);
  }

  /** Returns the bytes of a small blob without storing it: callers cache the content of directories themselves. */
  bytes(digest: Digest, farm: BlobStore): Promise<Uint8Array> {
    return this.#fetches.bytes(digest, farm);
  }

  /** Returns whether the bytes of a blob are stored here, under either mode. */
  holds(digest: Digest): boolean {
    if (digest.sizeBytes === 0) return true;
    return this.#has({ digest, executable: false }) || this.#has({ digest, executable: true });
  }

  /** Takes over a file that a job created, if a link is possible. Its bytes are already verified. */
  async adopt(from: string, file: WantedFile): Promise<void> {
    const temp = tempFileIn(this.#temp);
    try {
      const found = await lstat(from);
      if (!found.isFile() || found.nlink !== 1 || found.size !== file.digest.sizeBytes) return;
      await rename(from, temp);
      await this.#seal(temp, file);
    } catch {
      // This only saves a download: the farm has the bytes.
      await rm(temp, { force: true });
    }
  }

  /**
   * A file of another size was truncated by a crash of the machine; a file with another time was written to after it
   * was checked and sealed. Both are fetched again.
   */
  #has(file: WantedFile): boolean {
    const found = lstatSync(this.path(file), { throwIfNoEntry: false });
    return found?.size === file.digest.sizeBytes && found.mtimeMs === inputMtime * 1_000;
  }

  async #copyTwin(file: WantedFile): Promise<void> {
    const twin = { digest: file.digest, executable: !file.executable };
    await this.#writeAside(file, (temp) =>
      copyFile(this.path(twin), temp, constants.COPYFILE_FICLONE),
    );
  }

  async #writeAside(file: WantedFile, fill: (temp: string) => Promise<void>): Promise<void> {
    const temp = tempFileIn(this.#temp);
    try {
      await fill(temp);
      await this.#seal(temp, file);
    } catch (reason) {
      await rm(temp, { force: true });
      throw reason;
    }
  }

  async #seal(temp: string, file: WantedFile): Promise<void> {
    await chmod(temp, modeOf(file));
    giveToJobs(temp);
    await utimes(temp, inputMtime, inputMtime);
    const path = this.path(file);
    try {
      await rename(temp, path);
    } catch (reason) {
      if (errnoOf(reason) !== "ENOENT") throw reason;
      await mkdir(dirname(path), { recursive: true });
      await rename(temp, path);
    }
  }

  /** Puts a file into a tree, sharing its bytes if the file system supports it. */
  async linkTo(file: WantedFile, to: string): Promise<void> {
    try {
      await link(this.path(file), to);
    } catch (reason) {
      // ext4 allows 65,000 names for one file; empty files reach this limit.
      if (errnoOf(reason) !== "EMLINK") throw reason;
      await this.copyTo(file, to);
    }
  }

  /** Replaces a link to a file by a copy with its own inode. */
  async replaceByCopy(file: WantedFile, to: string): Promise<void> {
    await rm(to);
    await this.copyTo(file, to);
  }

  async copyTo(file: WantedFile, to: string): Promise<void> {
    await copyFile(this.path(file), to, constants.COPYFILE_FICLONE);
    giveToJobs(to);
    await utimes(to, inputMtime, inputMtime);
  }
}

function modeOf({ executable }: WantedFile): number {
  return executable ? modes.executable : modes.plain;
}
