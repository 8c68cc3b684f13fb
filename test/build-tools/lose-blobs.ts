import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";

/**
 * Removes a tenth of the blobs of a stopped or running farm, and returns the removed ones.
 *
 * The same seed removes the same blobs, in whatever order they are found.
 */
export async function loseBlobs(dataDir: string, seed: string): Promise<string[]> {
  // Those of all projects: each blob is in the shard with the first digits of its hash.
  const blobs = join(dataDir, "blobs");
  const lost: string[] = [];
  for (const entry of await readdir(blobs, { recursive: true, withFileTypes: true })) {
    const isBlob = entry.isFile() && /^[0-9a-f]{2}$/.test(basename(entry.parentPath));
    if (!isBlob || !isUnlucky(seed, entry.name)) continue;
    await rm(join(entry.parentPath, entry.name), { force: true });
    lost.push(entry.name);
  }
  return lost;
}

function isUnlucky(seed: string, name: string): boolean {
  return createHash("sha256").update(`${seed} ${name}`).digest().readUInt16BE() < 65_536 / 10;
}
