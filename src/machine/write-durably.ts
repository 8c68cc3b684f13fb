import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Writes a file that only its owner may read. After a crash it is complete or absent: the bytes are on the disk before
 * the file gets its name. The name is durable when this resolves.
 */
export async function writeDurably(path: string, bytes: Uint8Array | string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    const file = await open(aside, "wx", 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, path);
  } catch (reason) {
    await rm(aside, { force: true });
    throw reason;
  }
  await syncDirectory(dirname(path));
}

/** Makes the bytes of a file durable (fsync). */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the names of files in a directory durable (fsync of the directory). */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } catch (reason) {
    // Some network file systems do not support this, and write names at once.
    if (!["EINVAL", "ENOTSUP"].includes((reason as NodeJS.ErrnoException).code ?? "")) throw reason;
  } finally {
    await directory.close();
  }
}
