import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";

/** TMPFS_MAGIC, statfs(2). */
const tmpfs = 0x01021994;

/** Where temporary files are no memory: what jobs write on a tmpfs counts as theirs. */
export function diskDirectory(): string {
  return statfsSync(tmpdir()).type === tmpfs ? "/var/tmp" : tmpdir();
}
