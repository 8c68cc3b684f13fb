import type { ProjectStore } from "./project-blobs.ts";

/**
 * Called before each write with the size of the blob. Throws if the blob may not be written; otherwise returns a
 * function that must be called if nothing was stored.
 */
type AdmitWrite = (sizeBytes: number) => Promise<() => void>;

type WritableProject = Pick<ProjectStore, "blobs" | "uploads">;

/** Returns the blobs of a project for a caller with limited rights to write. */
export function guardedWrites(
  { blobs, uploads }: WritableProject,
  admit: AdmitWrite,
): WritableProject {
  /** The size of the unpacked blob is used: it is known and checked before a byte is read. */
  async function admitted(sizeBytes: number, write: () => Promise<void>): Promise<void> {
    const giveBack = await admit(sizeBytes);
    try {
      await write();
    } catch (reason) {
      giveBack();
      throw reason;
    }
  }
  return {
    blobs: {
      get: (digest) => blobs.get(digest),
      read: (digest, range) => blobs.read(digest, range),
      findMissing: (digests) => blobs.findMissing(digests),
      put: (digest, bytes, onWritten) =>
        admitted(digest.sizeBytes, () => blobs.put(digest, bytes, onWritten)),
      write: (digest, chunks) => admitted(digest.sizeBytes, () => blobs.write(digest, chunks)),
    },
    uploads: {
      committed: (name) => uploads.committed(name),
      receive: (upload) => admitted(upload.digest.sizeBytes, () => uploads.receive(upload)),
    },
  };
}
