import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Returns a file whose presence means that `grange restore` has started to fill the data directory and not finished.
 */
function markIn(dataDir: string): string {
  return join(dataDir, "restore-unfinished");
}

/** Marks a data directory as incomplete: no server starts in it. */
export async function beginRestore(dataDir: string): Promise<void> {
  await writeFile(markIn(dataDir), "grange restore has not finished here\n", { flush: true });
}

/** Removes the mark: the data directory is complete. */
export async function endRestore(dataDir: string): Promise<void> {
  await rm(markIn(dataDir), { force: true });
}

export function isRestoreUnfinished(dataDir: string): boolean {
  return existsSync(markIn(dataDir));
}
