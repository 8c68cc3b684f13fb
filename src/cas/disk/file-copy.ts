import type { FileHandle } from "node:fs/promises";
import type { Digest } from "#core/digest.ts";

/** Copies a blob elsewhere while its file is written. */
export interface FileCopy {
  /** The file has so many bytes now. */
  grew(sizeBytes: number): void;
  /** The file is complete, and its bytes match the digest. Resolves when the copy is durable. */
  finish(): Promise<void>;
  /** The file does not become the blob. */
  abandon(): Promise<void>;
}

/** Begins to copy the file of a blob. The file stays open until `finish` or `abandon` resolves. */
export type StartCopy = (digest: Digest, file: FileHandle) => FileCopy;

/** Returns a file that reports its size to the copy after each write. It has `sizeBytes` already. */
export function growing(
  file: Pick<FileHandle, "writev">,
  sizeBytes: number,
  copy: Pick<FileCopy, "grew">,
): Pick<FileHandle, "writev"> {
  let bytes = sizeBytes;
  return {
    async writev(chunks) {
      const written = await file.writev(chunks);
      bytes += written.bytesWritten;
      copy.grew(bytes);
      return written;
    },
  };
}
