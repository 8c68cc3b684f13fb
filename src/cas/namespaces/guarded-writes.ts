import type { ProjectStore } from "./project-blobs.ts";

/**
 * Asked before each write, with how many bytes the blob has. Throws for what may not be written; answers what to call
 * when nothing was kept after all.
 */
type AdmitWrite = (sizeBytes: number) => Promise<() => void>;

type WritableProject = Pick<ProjectStore, "blobs" | "uploads">;

/** The blobs of a project, for somebody who may not write all that he likes. */
export function guardedWrites(
  { blobs, uploads }: WritableProject,
  admit: AdmitWrite,
): WritableProject {
  /** The size is what a packed blob unpacks to: known, and admitted, before a byte of it is read. */
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
      put: (digest, bytes) => admitted(digest.sizeBytes, () => blobs.put(digest, bytes)),
      write: (digest, chunks) => admitted(digest.sizeBytes, () => blobs.write(digest, chunks)),
    },
    uploads: {
      committed: (name) => uploads.committed(name),
      receive: (upload) => admitted(upload.digest.sizeBytes, () => uploads.receive(upload)),
    },
  };
}
