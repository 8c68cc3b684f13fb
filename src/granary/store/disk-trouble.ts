import type { DiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import { errnoOf } from "#cas/disk/disk-fault.ts";
import { Fault, messageOf } from "#core/fault.ts";

/** The losses because of the disk since this process opened the store. */
export interface DiskTrouble {
  /** The number of writes that the disk refused. */
  readonly refusedWrites: number;
  /** The bytes that were removed to free space on a full disk. */
  readonly removedBytes: number;
  readonly because: string;
  readonly lastAt: Date;
}

/** Sums up the losses because of the disk, for a report: builds continue without the results that were not stored. */
interface DiskTroubleLog {
  read(): DiskTrouble | undefined;
  madeRoom(bytes: number): void;
  counted<T>(write: () => Promise<T>): Promise<T>;
  countedIn<Blobs extends DiskBlobStore>(blobs: Blobs): Blobs;
}

/** Error codes of the disk. Other errors come from the sender of the bytes. */
const ofDisk: ReadonlySet<string> = new Set([
  "ENOSPC",
  "EDQUOT",
  "EROFS",
  "EACCES",
  "EPERM",
  "EIO",
]);

export function diskTroubleLog(directory: string, now: () => Date): DiskTroubleLog {
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
