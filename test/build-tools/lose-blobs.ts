import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * Takes a tenth of what a stopped or running farm has stored away from it, and answers what it took.
 *
 * The same seed loses the same blobs, in whatever order they are found.
 */
export async function loseBlobs(dataDir: string, seed: string): Promise<string[]> {
  const blobs = join(dataDir, "blobs", "blobs");
  const lost: string[] = [];
  for (const entry of await readdir(blobs, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !isUnlucky(seed, entry.name)) continue;
    await rm(join(entry.parentPath, entry.name), { force: true });
    lost.push(entry.name);
  }
  return lost;
}

function isUnlucky(seed: string, name: string): boolean {
  return createHash("sha256").update(`${seed} ${name}`).digest().readUInt16BE() < 65_536 / 10;
}
