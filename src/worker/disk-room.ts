import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "#core/fault.ts";

/** The disk, or this user's quota of it, holds no more. */
const fullDiskCodes: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT"]);

/** Returns whether a failure was caused by a full disk of this machine, looking through the causes of errors. */
export function isDiskFull(reason: unknown): boolean {
  for (let each = reason; each instanceof Error; each = each.cause)
    if ("code" in each && fullDiskCodes.has(each.code)) return true;
  return false;
}

/** Less than any job needs; more than the last free blocks of a full disk. */
const probeBytes = 1_048_576;

/**
 * Writes a small file into a directory, and removes it. Returns why that failed; undefined where there is room.
 *
 * Free blocks are not counted instead: a quota, or a limit on the number of files, would not be seen.
 */
export async function whyNoRoom(directory: string): Promise<string | undefined> {
  // Always the same name: a process that is killed meanwhile leaves one file at most.
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
