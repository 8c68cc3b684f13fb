import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { isWrittenOnlyBy, makePrivateDirectory } from "./code-cache-directory.ts";

/** The compiled code of chunks, by their names. */
type CompiledChunks = ReadonlyMap<string, Uint8Array>;

/** What a file of the cache contains. */
interface CachedCode {
  readonly chunks: CompiledChunks;
  /** Whether a process wrote it whose start was over, so that it contains what a start compiles. */
  readonly isOfWholeStart: boolean;
}

/** The first bytes of a file: the checksum of all that follows, and the length of the list. Both are unsigned and little-endian. */
const prefixBytes = 8;

/** Files of other builds, and of commands that are no longer used, are removed after this time. Files in use are then written anew. */
const keptMs = 30 * 24 * 60 * 60 * 1_000;

/**
 * Reads the file of a cache. Returns undefined if it is missing or damaged, or if others can write to it or to its directory.
 *
 * V8 checks itself whether code is from another version, with other flags, or from a source of another length.
 */
export function readCodeCache(
  directory: string,
  name: string,
  uid: number | undefined,
): CachedCode | undefined {
  try {
    if (!isWrittenOnlyBy(uid, statSync(directory))) return undefined;
    const file = openSync(join(directory, name), "r");
    try {
      const stats = fstatSync(file);
      if (!stats.isFile() || !isWrittenOnlyBy(uid, stats)) return undefined;
      return decode(readFileSync(file));
    } finally {
      closeSync(file);
    }
  } catch {
    // Missing, or not readable. The program starts without it.
    return undefined;
  }
}

/**
 * Writes the file of a cache, in place of an earlier one. Does nothing if that is not possible, for example in a read-only
 * file system: the next start is then not faster, and that is all.
 */
export function writeCodeCache(directory: string, name: string, code: CachedCode): void {
  const temporary = join(directory, `${name}.${process.pid}.tmp`);
  try {
    makePrivateDirectory(directory);
    removeOld(directory);
    // Other processes of this user may read and write the same file at the same time.
    writeFileSync(temporary, encode(code), { mode: 0o600, flag: "wx" });
    renameSync(temporary, join(directory, name));
  } catch {
    removeIfPossible(temporary);
  }
}

function encode({ chunks, isOfWholeStart }: CachedCode): Buffer {
  const sizes = [...chunks].map(([name, code]) => [name, code.byteLength] as const);
  const list = Buffer.from(JSON.stringify({ isOfWholeStart, sizes }));
  const content = Buffer.concat([Buffer.alloc(prefixBytes), list, ...chunks.values()]);
  content.writeUInt32LE(list.byteLength, 4);
  content.writeUInt32LE(crc32(content.subarray(4)), 0);
  return content;
}

function decode(content: Buffer): CachedCode | undefined {
  if (content.readUInt32LE(0) !== crc32(content.subarray(4))) return undefined;
  const listEnd = prefixBytes + content.readUInt32LE(4);
  const { isOfWholeStart, sizes } = JSON.parse(content.toString("utf8", prefixBytes, listEnd)) as {
    readonly isOfWholeStart: boolean;
    readonly sizes: readonly (readonly [string, number])[];
  };
  const chunks = new Map<string, Uint8Array>();
  let at = listEnd;
  for (const [name, size] of sizes) {
    chunks.set(name, content.subarray(at, at + size));
    at += size;
  }
  return { chunks, isOfWholeStart };
}

function removeIfPossible(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // A parent of it is no directory, for example. `force` forgives only a missing file.
  }
}

function removeOld(directory: string): void {
  const before = Date.now() - keptMs;
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (statSync(path).mtimeMs < before) removeIfPossible(path);
  }
}
