import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DuneDigest } from "./dune-digest.ts";

/** A workspace of ten thousand rules has a megabyte. */
const largestDatabase = 512 * 1_024 * 1_024;

/** How OCaml marshals a text of sixteen bytes. */
const digestMark = 0x20 | 16;

/**
 * The rules that a build directory is made of, found in dune's own book-keeping: `_build/.db` names for each rule
 * the key of its last execution, whether it was run, taken from a cache, or up to date.
 *
 * Nothing else tells of hits: they never cross the socket, and dune's log names none. The file is a marshalled OCaml
 * value whose types change from version to version; all sixteen-byte texts in it are looked up instead of
 * understanding it. Keys are MD5s: another text that is one by chance is not to be feared.
 */
export function keysIn(database: Uint8Array, isKey: (key: DuneDigest) => boolean): DuneDigest[] {
  const bytes = Buffer.from(database.buffer, database.byteOffset, database.length);
  const keys = new Set<DuneDigest>();
  for (let at = bytes.indexOf(digestMark); at >= 0; at = bytes.indexOf(digestMark, at + 1)) {
    if (at + 17 > bytes.length) break;
    const key = bytes.toString("hex", at + 1, at + 17) as DuneDigest;
    if (isKey(key)) keys.add(key);
  }
  return [...keys];
}

/** Of a build directory; none where dune has left no books. */
export async function usedRules(
  buildDirectory: string,
  isKey: (key: DuneDigest) => boolean,
): Promise<DuneDigest[]> {
  const path = join(buildDirectory, ".db");
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || found.size > largestDatabase) return [];
  return keysIn(await readFile(path), isKey);
}

/** Whether dune ran there: it begins its log anew, even when nothing is to be done and its books stay as they are. */
export async function hasRunSince(buildDirectory: string, atMs: number): Promise<boolean> {
  const log = await stat(join(buildDirectory, "log")).catch(() => undefined);
  // A file system's clock may be a tick behind.
  return log !== undefined && log.mtimeMs >= atMs - 20;
}
