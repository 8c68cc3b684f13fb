import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";

/** TMPFS_MAGIC, statfs(2). */
const tmpfs = 0x01021994;

/**
 * Returns a directory for temporary files that is not in memory: files on a tmpfs count as memory
 * of a job.
 */
export function diskDirectory(): string {
  return statfsSync(tmpdir()).type === tmpfs ? "/var/tmp" : tmpdir();
}
