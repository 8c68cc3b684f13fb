import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "#core/fault.ts";

/** The disk, or this user's quota on it, is full; it is read-only or fails; or the worker has too many open files. */
const fullDiskCodes: ReadonlySet<unknown> = new Set([
  "ENOSPC",
  "EDQUOT",
  "EROFS",
  "EIO",
  "EMFILE",
  "ENFILE",
]);

/**
 * Returns whether this machine's disk, and not the action, caused a failure: it takes no file at present. Also checks
 * the causes of errors.
 */
export function isDiskFull(reason: unknown): boolean {
  for (let each = reason; each instanceof Error; each = each.cause)
    if ("code" in each && fullDiskCodes.has(each.code)) return true;
  return false;
}

/** Less than any job needs, and more than the last free blocks of a full disk. */
const probeBytes = 1_048_576;

/**
 * Writes a small file into a directory, and removes it. Returns the reason if that failed; undefined if there is space.
 *
 * The function does not count free blocks, because this would miss a quota or a limit on the number of files.
 */
export async function whyNoRoom(directory: string): Promise<string | undefined> {
  // Always the same name: a process that is killed during the check leaves at most one file.
  const probe = join(directory, "disk-probe");
  try {
    await writeFile(probe, Buffer.alloc(probeBytes));
    return undefined;
  } catch (reason) {
    return messageOf(reason);
  } finally {
    await rm(probe, { force: true }).catch(() => {});
  }
}
