import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** The sum of all files' sizes below a folder; links are not followed. */
export async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await bytesBelow(path);
    else bytes += (await lstat(path)).size;
  }
  return bytes;
}
