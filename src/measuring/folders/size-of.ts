import { lstat, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";

/** Bytes of a file, or of all files below a folder. Links count nothing, and are not followed. */
async function sizeOf(path: string): Promise<number> {
  const entry = await lstat(path);
  if (entry.isFile()) return entry.size;
  if (!entry.isDirectory()) return 0;
  let bytes = 0;
  for (const name of await readdir(path)) bytes += await sizeOf(join(path, name));
  return bytes;
}

/** Undefined where there is nothing, or where a link on the way leads out of the root. */
export async function sizeBelow(root: string, path: string): Promise<number | undefined> {
  try {
    const [top, real] = [await realpath(root), await realpath(path)];
    return real === top || real.startsWith(`${top}/`) ? await sizeOf(real) : undefined;
  } catch {
    return undefined;
  }
}
