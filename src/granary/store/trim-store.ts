import { rmSync, type Stats, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { digestOfFile, modifiedAt } from "#cas/disk/disk-layout.ts";
import type { Digest } from "#core/digest.ts";
import { isEmptyDigest } from "#core/digest.ts";
import { isAltered } from "./altered.ts";
import { isDiskFull } from "./checked-blobs.ts";
import type { Compacting } from "./choose-to-compact.ts";
import { type BlobOnDisk, chooseToTrimInTurns, type ResultOnDisk } from "./choose-to-trim.ts";
import { shortKeyOf } from "./key-set.ts";
import { bytesOnDisk, type KnownFiles, namesIn } from "./known-files.ts";
import type { Pack } from "./pack.ts";
import { readResultText } from "./result-text.ts";
import { executableSuffix, type StorePaths } from "./store-paths.ts";

/** This number takes about 1.5 ms; then other work runs. */
const callsPerTurn = 200;

interface FoundResult extends ResultOnDisk {
  readonly key: number;
  readonly name: string;
}

interface FoundBlob extends BlobOnDisk {
  readonly atimeMs: number;
  /** Undefined for a blob that is only in the pack. */
  readonly file: Digest | undefined;
  /** Undefined for a blob that is only a file. */
  readonly packedAs: string | undefined;
}

interface TrimRequest {
  readonly paths: StorePaths;
  readonly known: KnownFiles;
  readonly pack: Pack;
  readonly limitBytes: number;
  /** `disk-full`: the disk has no space for more data, whatever the limit. */
  readonly compacting: Compacting;
  readonly now: Date;
  readonly isHeld: (digest: Digest) => boolean;
  /** Names that were found or stored since the trim began: short keys. */
  readonly namedMeanwhile: ReadonlySet<number>;
  readonly signal: AbortSignal;
}

/**
 * Brings the store under its limit; returns how many bytes that freed, and how many are left in files.
 *
 * Results are removed first, then the blobs that they named: if the process is killed in between, there are too many
 * blobs, never too few. Between the last check of a blob and its removal nothing else of this process runs, so a client
 * that learned that the blob exists can still read it. Dead data in packs are removed at the end, in any case.
 */
export async function trimStore(
  request: TrimRequest,
): Promise<{ readonly removedBytes: number; readonly leftFileBytes: number }> {
  const { paths, known, pack, compacting, now, namedMeanwhile, signal } = request;
  const blobs = await blobsOnDisk(request);
  let leftFileBytes = 0;
  for (const { freeBytes } of blobs.values()) leftFileBytes += freeBytes;
  await addPackedBlobs(request, blobs);
  const results = await resultsInPack(request);
  const chosen = await chooseToTrimInTurns(
    results,
    blobs,
    { limitBytes: request.limitBytes, isDiskFull: compacting === "disk-full" },
    now.getTime(),
  );
  let removedBytes = 0;

  await inTurns(chosen.results, signal, callsPerTurn, (result) => {
    const isUsed = (pack.usedAtMs("result", result.key) ?? 0) > result.usedAtMs;
    if (isUsed || namedMeanwhile.has(result.key)) return;
    pack.remove("result", result.name);
    removedBytes += result.bytes;
  });
  await inTurns(chosen.blobs, signal, callsPerTurn, (blob) => {
    const { file, packedAs, key } = blob;
    const path = file && paths.blob(file);
    const isUsed =
      (pack.usedAtMs("blob", key) ?? 0) > blob.usedAtMs ||
      ((path && statSync(path, { throwIfNoEntry: false })?.atimeMs) || 0) > blob.atimeMs;
    if (isUsed || namedMeanwhile.has(key)) return;
    if (packedAs !== undefined) pack.remove("blob", packedAs);
    removedBytes += blob.freeBytes;
    if (file === undefined || path === undefined) return;
    leftFileBytes -= blob.freeBytes;
    rmSync(path, { force: true });
    rmSync(paths.executable(file), { force: true });
    known.blobIsGone(file);
  });
  await pack.compact(compacting, signal).catch(async (reason: unknown) => {
    // There is no space for the copies; removing other data first frees some.
    if (!isDiskFull(reason)) throw reason;
    await pack.compact("disk-full", signal);
  });
  return { removedBytes, leftFileBytes: Math.max(0, leftFileBytes) };
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
    await inTurns(namesIn(join(paths.blobs, shard)), signal, callsPerTurn, (name) => {
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
      resetFutureTime(path, file, file.atime, now, () => utimesSync(path, now, modifiedAt));
      const key = shortKeyOf(digest);
      const other = found.get(key);
      const bytes = bytesOnDisk(file.size);
      found.set(key, {
        key,
        file: digest,
        packedAs: undefined,
        bytes: bytes + (other?.bytes ?? 0),
        freeBytes: (file.nlink > 1 ? 0 : bytes) + (other?.freeBytes ?? 0),
        usedAtMs: Math.max(file.atimeMs, other?.usedAtMs ?? 0),
        // The time of use is recorded at the plain file.
        atimeMs: isTwin ? (other?.atimeMs ?? 0) : file.atimeMs,
        isHeld: isHeld(digest),
      });
    });
  }
  return found;
}

async function addPackedBlobs(request: TrimRequest, found: Map<number, FoundBlob>): Promise<void> {
  const { pack, isHeld, signal } = request;
  await inTurns([...pack.live("blob")], signal, callsPerTurn, ({ key, bytes, usedAtMs }) => {
    const other = found.get(key);
    const head = pack.headByKey("blob", key);
    const digest = head && digestOfFile(head.name, head.bodyBytes);
    if (head === undefined || digest === undefined) return;
    found.set(key, {
      key,
      file: other?.file,
      packedAs: head.name,
      bytes: bytes + (other?.bytes ?? 0),
      freeBytes: bytes + (other?.freeBytes ?? 0),
      usedAtMs: Math.max(agedNow(request, "blob", key, usedAtMs), other?.usedAtMs ?? 0),
      atimeMs: other?.atimeMs ?? 0,
      isHeld: isHeld(digest),
    });
  });
}

async function resultsInPack(request: TrimRequest): Promise<FoundResult[]> {
  const { pack, isHeld, signal } = request;
  const found: FoundResult[] = [];
  await inTurns([...pack.live("result")], signal, callsPerTurn, ({ key, bytes, usedAtMs }) => {
    const read = pack.readByKey("result", key);
    const result = read && readResultText(read.bytes.toString("utf8"));
    if (result === undefined) {
      if (read !== undefined) pack.remove("result", read.name);
      return;
    }
    found.push({
      key,
      name: read?.name ?? "",
      usedAtMs: agedNow(request, "result", key, usedAtMs),
      bytes,
      blobs: [result.value, ...result.blobs].map(shortKeyOf),
      isHeld: isHeld(result.value),
    });
  });
  return found;
}

/**
 * A clock that was ahead may have left records that would stay the youngest until that time: their age counts from now
 * on.
 */
function agedNow(
  { pack, now }: TrimRequest,
  kind: "result" | "blob",
  key: number,
  usedAtMs: number,
): number {
  if (usedAtMs - now.getTime() < 60_000) return usedAtMs;
  pack.usedNow(kind, key);
  return pack.usedAtMs(kind, key) ?? usedAtMs;
}

/**
 * A clock that was ahead may have left files that would stay the youngest until that time: their age counts from now
 * on.
 */
function resetFutureTime(
  path: string,
  file: Stats,
  usedAt: Date,
  now: Date,
  set: () => void,
): void {
  if (usedAt.getTime() - now.getTime() < 60_000) return;
  try {
    set();
    // Checked again before a removal.
    Object.assign(file, statSync(path));
  } catch {
    // It was just removed.
  }
}
