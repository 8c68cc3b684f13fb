import { constants } from "node:fs";
import { lstat, mkdir, open, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "#core/fault.ts";

/**
 * Writes a file below a folder in which a program has run. The program may have replaced the file, or a folder above
 * it, by a link to another place: such links are refused.
 */
export async function writeBelow(root: string, path: string, text: string): Promise<void> {
  await refuseLinks(root, path);
  await mkdir(dirname(join(root, path)), { recursive: true });
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  const file = await open(join(root, path), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o644);
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}

/** Returns undefined when there is no such file. */
export async function readBelow(root: string, path: string): Promise<string | undefined> {
  await refuseLinks(root, path);
  return readFile(join(root, path), "utf8").catch(() => undefined);
}

async function refuseLinks(root: string, path: string): Promise<void> {
  const parts = path.split("/");
  for (let i = 1; i <= parts.length; i++) {
    const at = parts.slice(0, i).join("/");
    const entry = await lstat(join(root, at)).catch(() => undefined);
    if (entry === undefined) return;
    if (entry.isSymbolicLink() || (i === parts.length && !entry.isFile())) {
      throw new Fault(
        "failed_precondition",
        `${at} of the benchmark's sources is neither a regular file nor a directory`,
      );
    }
  }
}
