import { readFileSync, rmSync, type Stats, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { modifiedAt } from "#cas/disk-blob-store.ts";
import { errnoOf } from "#cas/disk-fault.ts";
import { digestOfFile } from "#cas/disk-layout.ts";
import type { Digest } from "#core/digest.ts";
import { isEmptyDigest } from "#core/digest.ts";
import { isAltered } from "./altered.ts";
import { type BlobOnDisk, chooseToTrimInTurns, type ResultOnDisk } from "./choose-to-trim.ts";
import { shortKeyOf } from "./key-set.ts";
import { bytesOnDisk, type KnownFiles, namesIn } from "./known-files.ts";
import { readResultText } from "./result-file.ts";
import { executableSuffix, type StorePaths } from "./store-paths.ts";

/** About 1.5 ms; then others have their turn. */
const callsInOneGo = 200;
/** Through the thread pool, reading a result costs five times as much of this process. */
const readsInOneGo = 20;

interface FoundResult extends ResultOnDisk {
  readonly fileName: string;
  readonly mtimeMs: number;
}

interface FoundBlob extends BlobOnDisk {
  readonly digest: Digest;
  readonly atimeMs: number;
}

export interface TrimRequest {
  readonly paths: StorePaths;
  readonly known: KnownFiles;
  readonly limitBytes: number;
  /** The disk has no room for more than there is, whatever the limit. */
  readonly isDiskFull: boolean;
  readonly now: Date;
  readonly isHeld: (digest: Digest) => boolean;
  /** Named by what was found or kept since the trim began: short keys. */
  readonly namedMeanwhile: ReadonlySet<number>;
  readonly signal: AbortSignal;
}

/**
 * Brings the store under its limit; answers how many bytes that freed, and how many are left.
 *
 * Results go first, then the blobs that they named: killed in between, there are blobs too many, never too few.
 * Between the last look at a file and its removal nothing else of this process runs, so that whoever was told
 * "it is here" keeps it.
 */
export async function trimStore(
  request: TrimRequest,
): Promise<{ readonly removedBytes: number; readonly leftBytes: number }> {
  const { paths, known, now, namedMeanwhile, signal } = request;
  const blobs = await blobsOnDisk(request);
  const results = await resultsOnDisk(request);
  const chosen = await chooseToTrimInTurns(results, blobs, request, now.getTime());
  let removedBytes = 0;

  await inTurns(chosen.results, signal, callsInOneGo, (result) => {
    const path = paths.result(result.fileName);
    if (statSync(path, { throwIfNoEntry: false })?.mtimeMs !== result.mtimeMs) return;
    rmSync(path, { force: true });
    known.resultIsGone(result.fileName);
    removedBytes += result.bytes;
  });
  await inTurns(chosen.blobs, signal, callsInOneGo, (blob) => {
    const path = paths.blob(blob.digest);
    const isUsed = (statSync(path, { throwIfNoEntry: false })?.atimeMs ?? 0) > blob.atimeMs;
    if (isUsed || namedMeanwhile.has(blob.key)) return;
    rmSync(path, { force: true });
    rmSync(paths.executable(blob.digest), { force: true });
    known.blobIsGone(blob.digest);
    removedBytes += blob.freeBytes;
  });
  return { removedBytes, leftBytes: chosen.usedBytes - removedBytes };
}

async function inTurns<T>(
  items: readonly T[],
  signal: AbortSignal,
  inOneGo: number,
  act: (item: T) => void,
): Promise<void> {
  for (const [i, item] of items.entries()) {
    if (signal.aborted) return;
    act(item);
    if (i % inOneGo === inOneGo - 1) await setImmediate();
  }
}

async function blobsOnDisk(request: TrimRequest): Promise<Map<number, FoundBlob>> {
  const { paths, now, isHeld, known, signal } = request;
  const found = new Map<number, FoundBlob>();
  for (const shard of namesIn(paths.blobs)) {
    await setImmediate();
    await inTurns(namesIn(join(paths.blobs, shard)), signal, callsInOneGo, (name) => {
      const path = join(paths.blobs, shard, name);
      const file = statSync(path, { throwIfNoEntry: false });
      const isTwin = name.endsWith(executableSuffix);
      const plainName = isTwin ? name.slice(0, -executableSuffix.length) : name;
      const digest = file && digestOfFile(plainName, file.size);
      if (file === undefined || digest === undefined || isEmptyDigest(digest)) return;
      if (isAltered(file)) {
        rmSync(path, { force: true });
        if (!isTwin) known.blobIsGone(digest);
        return;
      }
      backToNow(path, file, file.atime, now, () => utimesSync(path, now, modifiedAt));
      const key = shortKeyOf(digest);
      const other = found.get(key);
      const bytes = bytesOnDisk(file.size);
      found.set(key, {
        key,
        digest,
        bytes: bytes + (other?.bytes ?? 0),
        freeBytes: (file.nlink > 1 ? 0 : bytes) + (other?.freeBytes ?? 0),
        usedAtMs: Math.max(file.atimeMs, other?.usedAtMs ?? 0),
        // Use is noted at the plain one.
        atimeMs: isTwin ? (other?.atimeMs ?? 0) : file.atimeMs,
        isHeld: isHeld(digest),
      });
    });
  }
  return found;
}

async function resultsOnDisk(request: TrimRequest): Promise<FoundResult[]> {
  const { paths, now, isHeld, known, signal } = request;
  const found: FoundResult[] = [];
  for (const shard of namesIn(paths.results)) {
    await setImmediate();
    const names = namesIn(join(paths.results, shard));
    await inTurns(names, signal, readsInOneGo, (fileName) => {
      const path = paths.result(fileName);
      const text = textOf(path);
      const file = statSync(path, { throwIfNoEntry: false });
      if (text === undefined || file === undefined) return;
      const result = readResultText(text);
      if (result === undefined) {
        rmSync(path, { force: true });
        known.resultIsGone(fileName);
        return;
      }
      backToNow(path, file, file.mtime, now, () => utimesSync(path, now, now));
      found.push({
        fileName,
        mtimeMs: file.mtimeMs,
        usedAtMs: file.mtimeMs,
        bytes: bytesOnDisk(file.size),
        blobs: [result.value, ...result.blobs].map(shortKeyOf),
        isHeld: isHeld(result.value),
      });
    });
  }
  return found;
}

/** Empty when the disk cannot read it back: then it is no result. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (reason) {
    return errnoOf(reason) === "EIO" ? "" : undefined;
  }
}

/** A clock that was ahead leaves files that would stay the youngest until it is that time: they age from now on. */
function backToNow(path: string, file: Stats, usedAt: Date, now: Date, set: () => void): void {
  if (usedAt.getTime() - now.getTime() < 60_000) return;
  try {
    set();
    // Looked at again before a removal.
    Object.assign(file, statSync(path));
  } catch {
    // It was removed a moment ago.
  }
}
