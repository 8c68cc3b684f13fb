import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A file of a data directory that `grange restore` has begun to fill and not finished. */
function markIn(dataDir: string): string {
  return join(dataDir, "restore-unfinished");
}

/** Marks a data directory as half filled: no server starts in it. */
export async function beginRestore(dataDir: string): Promise<void> {
  await writeFile(markIn(dataDir), "grange restore has not finished here\n", { flush: true });
}

/** Takes the mark away: the data directory is whole. */
export async function endRestore(dataDir: string): Promise<void> {
  await rm(markIn(dataDir), { force: true });
}

export function isRestoreUnfinished(dataDir: string): boolean {
  return existsSync(markIn(dataDir));
}
