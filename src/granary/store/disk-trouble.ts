import type { DiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import { errnoOf } from "#cas/disk/disk-fault.ts";
import { Fault, messageOf } from "#core/fault.ts";

/** What the disk has cost since this process opened the store. */
export interface DiskTrouble {
  /** Writes that it refused. */
  readonly refusedWrites: number;
  /** Of what was here before, so much went to make room on a full disk. */
  readonly removedBytes: number;
  readonly because: string;
  readonly lastAt: Date;
}

/** Adds up what the disk costs, so that somebody is told: builds go on without what was not kept. */
export interface TroubleBook {
  read(): DiskTrouble | undefined;
  madeRoom(bytes: number): void;
  counted<T>(write: () => Promise<T>): Promise<T>;
  countedIn<Blobs extends DiskBlobStore>(blobs: Blobs): Blobs;
}

/** What says something of the disk. Others are of who sends the bytes. */
const ofDisk: ReadonlySet<string> = new Set([
  "ENOSPC",
  "EDQUOT",
  "EROFS",
  "EACCES",
  "EPERM",
  "EIO",
]);

export function troubleBook(directory: string, now: () => Date): TroubleBook {
  let refusedWrites = 0;
  let removedBytes = 0;
  let last: Pick<DiskTrouble, "because" | "lastAt"> | undefined;

  async function counted<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (reason) {
      const errno = errnoOf(reason instanceof Fault ? reason.cause : reason);
      if (errno !== undefined && ofDisk.has(errno)) {
        refusedWrites += 1;
        last = { because: messageOf(reason), lastAt: now() };
      }
      throw reason;
    }
  }

  return {
    read: () => last && { refusedWrites, removedBytes, ...last },
    madeRoom(bytes) {
      if (bytes === 0) return;
      removedBytes += bytes;
      last = { because: `no space was left in ${directory}`, lastAt: now() };
    },
    counted,
    countedIn: (blobs) => ({
      ...blobs,
      put: (digest, bytes) => counted(() => blobs.put(digest, bytes)),
      write: (digest, chunks) => counted(() => blobs.write(digest, chunks)),
      take: (chunks) => counted(() => blobs.take(chunks)),
      keepFile: (digest, file, path) => counted(() => blobs.keepFile(digest, file, path)),
    }),
  };
}
