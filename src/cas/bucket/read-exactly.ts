import type { FileHandle } from "node:fs/promises";
import { Fault } from "#core/fault.ts";

/** Returns `length` bytes of a file from `start` on. */
export async function readExactly(
  file: Pick<FileHandle, "read">,
  start: number,
  length: number,
): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; ) {
    const { bytesRead } = await file.read(bytes, at, length - at, start + at);
    if (bytesRead === 0) throw new Fault("internal", "a file became shorter while it was sent");
    at += bytesRead;
  }
  return bytes;
}
