import { rmSync, type Stats, statSync, utimesSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { spanIn } from "#cas/byte-span.ts";
import type { DiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import { diskFault, errnoOf } from "#cas/disk/disk-fault.ts";
import { modifiedAt } from "#cas/disk/disk-layout.ts";
import { assertBytesMatch } from "#cas/matching-bytes.ts";
import type { Clock } from "#core/clock.ts";
import { type Digest, digestKey, isEmptyDigest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { isAltered } from "./altered.ts";
import { hashFile, type Soundness } from "./soundness.ts";

/** A use within a minute of a recorded use is not recorded. */
const noteUseAfterMs = 60_000;

/** This number takes about 1.5 ms; without the thread pool, a check costs a tenth. */
const checksPerTurn = 500;

const smallBytes = 1024 * 1024;

interface CheckedBlobsOptions {
  /** The path of the store, for messages. */
  readonly directory: string;
  readonly trustDisk: boolean;
  readonly clock: Clock;
  readonly known: Soundness;
  readonly onHere: (digest: Digest) => void;
  readonly onGone: (digest: Digest, because: "absent" | "altered" | "rotten") => void;
  /** Makes space on a full disk; returns whether anything was removed. */
  readonly makeRoom: () => Promise<boolean>;
}

export interface CheckedBlobs extends DiskBlobStore {
  /** Returns whether the blob exists, by checking its file. Removes a modified file. Records the use if requested. */
  look(digest: Digest, isUse?: boolean): boolean;
  /**
   * Returns whether the file has the blob's bytes; removes it when not. Hashed at most once while it does not change.
   */
  isSound(digest: Digest, path?: string): Promise<boolean>;
}

/**
 * A disk store whose readers never receive bytes that do not match the digest (compare `verifying`, which hashes at
 * each read).
 *
 * A blob is hashed before its first byte is returned, not while it is read: a tool whose stream breaks off fails its
 * build, while a tool that gets a miss makes the result. This costs one more pass over the bytes, which are then in
 * memory, once in the life of the process.
 */
export function checkedBlobs(disk: DiskBlobStore, options: CheckedBlobsOptions): CheckedBlobs {
  const { directory, trustDisk, clock, known, onHere, onGone, makeRoom } = options;
  const underWay = new Map<string, Promise<boolean>>();

  /** Returns the file at the path if it can be the blob. */
  function fileOf(digest: Digest, path: string): Stats | undefined {
    const file = statSync(path, { throwIfNoEntry: false });
    if (file !== undefined && isAltered(file)) {
      rmSync(path, { force: true });
      if (path === disk.path(digest)) onGone(digest, "altered");
      return undefined;
    }
    if (file === undefined && path === disk.path(digest)) onGone(digest, "absent");
    // Another size under that hash may be the caller's mistake, so nothing is removed.
    return file?.size === digest.sizeBytes ? file : undefined;
  }

  function noteUse(path: string, file: Stats): void {
    const now = clock.now();
    // The difference in both directions counts, because a clock that was ahead may have left times
    // in the future.
    if (Math.abs(now.getTime() - file.atimeMs) <= noteUseAfterMs) return;
    try {
      utimesSync(path, now, modifiedAt);
      known.moved(path, file, statSync(path));
    } catch {
      // On failure, a trim only sees an older time of use.
    }
  }

  async function hashNow(digest: Digest, path: string): Promise<boolean> {
    const startedAtMs = clock.now().getTime();
    try {
      const { file, isRight } = await hashFile(path, digest);
      const after = statSync(path, { throwIfNoEntry: false });
      if (after === undefined) return false;
      if (isRight && after.ctimeMs === file.ctimeMs) known.remember(path, file, startedAtMs);
      // A correct file may have been put there meanwhile.
      if (!isRight && after.ino === file.ino) removeCorrupt(digest, path);
      return isRight;
    } catch (reason) {
      if (errnoOf(reason) === "ENOENT") return false;
      // The disk cannot read the data: for a cache this is the same as a missing blob.
      if (errnoOf(reason) !== "EIO") throw reason;
      removeCorrupt(digest, path);
      return false;
    }
  }

  function removeCorrupt(digest: Digest, path: string): void {
    rmSync(path, { force: true });
    if (path === disk.path(digest)) onGone(digest, "rotten");
  }

  async function isSound(digest: Digest, path = disk.path(digest)): Promise<boolean> {
    if (isEmptyDigest(digest)) return true;
    const file = fileOf(digest, path);
    if (file === undefined) return false;
    if (trustDisk || known.isKnown(path, file)) return true;
    const checking =
      underWay.get(path) ?? hashNow(digest, path).finally(() => underWay.delete(path));
    underWay.set(path, checking);
    return checking;
  }

  function look(digest: Digest, isUse = false): boolean {
    if (isEmptyDigest(digest)) return true;
    const path = disk.path(digest);
    const file = fileOf(digest, path);
    if (file !== undefined && isUse) noteUse(path, file);
    return file !== undefined;
  }

  /** A small blob is read once, and hashed from memory. */
  async function getAndCheck(digest: Digest): Promise<Uint8Array | undefined> {
    const path = disk.path(digest);
    const before = fileOf(digest, path);
    if (before === undefined) return undefined;
    noteUse(path, before);
    const file = statSync(path, { throwIfNoEntry: false });
    const startedAtMs = clock.now().getTime();
    const bytes = await disk.get(digest);
    if (bytes === undefined || file === undefined) return bytes;
    if (trustDisk || known.isKnown(path, file)) return bytes;
    try {
      await assertBytesMatch(digest, bytes, "data_loss");
    } catch (reason) {
      if (!(reason instanceof Fault) || reason.code !== "data_loss") throw reason;
      removeCorrupt(digest, path);
      return undefined;
    }
    known.remember(path, file, startedAtMs);
    return bytes;
  }

  /** On a full disk, retries once when something could be removed. */
  async function withRoom<T>(keep: () => Promise<T>, canRepeat: boolean): Promise<T> {
    try {
      return await keep();
    } catch (reason) {
      if (!isDiskFull(reason)) throw reason;
      const isFreed = await makeRoom();
      if (!isFreed || !canRepeat) throw reason;
      return keep();
    }
  }

  const inStore = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (reason) {
      throw diskFault(reason, directory);
    }
  };

  return {
    ...disk,
    look,
    isSound,
    get: (digest) =>
      inStore(async () => {
        if (isEmptyDigest(digest)) return new Uint8Array();
        if (digest.sizeBytes <= smallBytes) return getAndCheck(digest);
        return (await isSound(digest)) && look(digest, true) ? disk.get(digest) : undefined;
      }),
    read: (digest, range) =>
      inStore(async () => {
        // Throws for a range outside of the blob, whether or not the blob exists.
        spanIn(digest, range);
        return (await isSound(digest)) && look(digest, true) ? disk.read(digest, range) : undefined;
      }),
    put: (digest, bytes) =>
      inStore(async () => {
        // Removes an altered file, which the disk store would accept as the blob.
        look(digest);
        await withRoom(() => disk.put(digest, bytes), true);
        onHere(digest);
      }),
    write: (digest, chunks) =>
      inStore(async () => {
        look(digest);
        // Consumed chunks cannot be read again, so this blob is lost; but the next blob will have
        // space.
        await withRoom(() => disk.write(digest, chunks), false);
        onHere(digest);
      }),
    take: (chunks) =>
      inStore(async () => {
        const digest = await withRoom(() => disk.take(chunks), false);
        onHere(digest);
        return digest;
      }),
    keepFile: (digest, file, path) =>
      inStore(async () => {
        await disk.keepFile(digest, file, path);
        onHere(digest);
      }),
    findMissing: (digests) =>
      inStore(async () => {
        const distinct = new Map(digests.map((digest) => [digestKey(digest), digest]));
        const missing: Digest[] = [];
        let looks = 0;
        for (const digest of distinct.values()) {
          if (!look(digest, true)) missing.push(digest);
          if (++looks % checksPerTurn === 0) await setImmediate();
        }
        return missing;
      }),
    remove: (digest) =>
      inStore(async () => {
        await disk.remove(digest);
        if (!isEmptyDigest(digest)) onGone(digest, "absent");
      }),
  };
}

export function isDiskFull(reason: unknown): boolean {
  const errno = errnoOf(reason instanceof Fault ? reason.cause : reason);
  return errno === "ENOSPC" || errno === "EDQUOT";
}
