import type { FileHandle } from "node:fs/promises";

/** Chunks from the network have 16 to 64 KiB; a call for each would cost more than writing its bytes. */
const writtenAtOnce = 1024 * 1024;

/**
 * Writes chunks to a file, from the current position.
 *
 * While a batch is written, the next chunks are read and thus hashed: at most twice `writtenAtOnce` is in memory. When
 * the source fails, the earlier chunks are in the file.
 */
export async function writeChunks(
  file: Pick<FileHandle, "writev">,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  let gathered: Uint8Array[] = [];
  let gatheredBytes = 0;
  let writing: Promise<void> = Promise.resolve();

  const flush = async () => {
    await writing;
    const batch = gathered;
    gathered = [];
    gatheredBytes = 0;
    writing = writeAll(file, batch);
    // A failure is reported when the next batch, or the end, waits for this one.
    writing.catch(() => {});
  };

  try {
    for await (const chunk of chunks) {
      if (chunk.byteLength === 0) continue;
      gathered.push(chunk);
      gatheredBytes += chunk.byteLength;
      if (gatheredBytes >= writtenAtOnce) await flush();
    }
  } catch (reason) {
    await flush().catch(() => {});
    // The file must not be closed during a write.
    await writing.catch(() => {});
    throw reason;
  }
  await flush();
  await writing;
}

/** A full disk accepts a part without an error, and fails at the next write. */
async function writeAll(file: Pick<FileHandle, "writev">, batch: Uint8Array[]): Promise<void> {
  let left = batch;
  while (left.length > 0) {
    const { bytesWritten } = await file.writev(left);
    left = after(left, bytesWritten);
  }
}

function after(chunks: readonly Uint8Array[], written: number): Uint8Array[] {
  let skipped = 0;
  for (const [i, chunk] of chunks.entries()) {
    if (skipped + chunk.byteLength > written) {
      return [chunk.subarray(written - skipped), ...chunks.slice(i + 1)];
    }
    skipped += chunk.byteLength;
  }
  return [];
}
