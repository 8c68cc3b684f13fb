import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { Readable, type Readable as ReadableStream } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { writeChunks } from "#cas/write-chunks.ts";
import { Fault } from "#core/fault.ts";
import type { CheckedFile } from "./manifest.ts";

/** Rows are compressed while they are read: the fastest level keeps up with the database. */
const gzipLevel = 1;

/** Writes a stream, compressed, into a new file that only its owner may read; it is on the disk when this resolves. */
export async function writeCompressed(
  path: string,
  from: ReadableStream | AsyncIterable<string>,
): Promise<CheckedFile> {
  const hash = createHash("sha256");
  let bytes = 0;
  const file = await open(path, "wx", 0o600);
  try {
    const counted = async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        bytes += chunk.byteLength;
        yield chunk;
      }
    };
    await pipeline(
      from instanceof Readable ? from : Readable.from(from),
      createGzip({ level: gzipLevel }),
      (packed: AsyncIterable<Buffer>) => writeChunks(file, counted(packed)),
    );
    await file.sync();
  } finally {
    await file.close();
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** Returns the manifest's entry for a file of these bytes. */
export function fileOfBytes(bytes: Uint8Array): CheckedFile {
  return { bytes: bytes.byteLength, sha256: createHash("sha256").update(bytes).digest("hex") };
}

/**
 * Reads a whole file of a backup and throws `data_loss`, with its path, unless its bytes are those of the manifest.
 */
export async function requireIntact(path: string, expected: CheckedFile): Promise<void> {
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(path)) {
      hash.update(chunk);
      bytes += (chunk as Buffer).byteLength;
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
    throw new Fault("data_loss", `the backup is damaged: ${path} is missing`, { cause });
  }
  if (bytes === expected.bytes && hash.digest("hex") === expected.sha256) return;
  throw new Fault(
    "data_loss",
    `the backup is damaged: the bytes of ${path} do not match their digest`,
  );
}
