import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DuneDigest } from "./dune-digest.ts";

/** The size limit for dune's records; a workspace of ten thousand rules has one megabyte. */
const largestDatabase = 512 * 1_024 * 1_024;

/** The first byte of a text of sixteen bytes, as OCaml marshals it. */
const digestMark = 0x20 | 16;

/**
 * Returns the rules of a build directory from dune's own records: `_build/.db` names for each rule the key of its last
 * execution, whether it ran, came from a cache, or was up to date.
 *
 * Hits appear nowhere else: they do not use the socket, and dune's log names none. The file is a marshalled OCaml value
 * whose types change between versions, so all texts of sixteen bytes in it are looked up. Keys are MD5 digests: another
 * text is not expected to equal one by chance.
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

/** Returns the used rules of a build directory; empty when dune has left no records. */
export async function usedRules(
  buildDirectory: string,
  isKey: (key: DuneDigest) => boolean,
): Promise<DuneDigest[]> {
  const path = join(buildDirectory, ".db");
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || found.size > largestDatabase) return [];
  return keysIn(await readFile(path), isKey);
}

/**
 * Returns whether dune ran in this directory: dune starts a new log even when it has nothing to do and its records stay
 * unchanged.
 */
export async function hasRunSince(buildDirectory: string, atMs: number): Promise<boolean> {
  const log = await stat(join(buildDirectory, "log")).catch(() => undefined);
  // A file system's clock may be slightly behind.
  return log !== undefined && log.mtimeMs >= atMs - 20;
}
