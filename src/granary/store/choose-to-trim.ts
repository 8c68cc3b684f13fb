/** Keys are short ones: see `key-set.ts`. */
export interface ResultOnDisk {
  readonly usedAtMs: number;
  readonly bytes: number;
  /** What it names, its value with it. */
  readonly blobs: readonly number[];
  /** On its way to the farm. */
  readonly isHeld: boolean;
}

export interface BlobOnDisk {
  readonly key: number;
  readonly bytes: number;
  /** What removing it would free: nothing of a file that has other names elsewhere. */
  readonly freeBytes: number;
  readonly usedAtMs: number;
  readonly isHeld: boolean;
}

export interface ToTrim<Result, Blob> {
  readonly results: readonly Result[];
  readonly blobs: readonly Blob[];
}

/** Whoever uploads a blob names it in a result soon after, or does not come back. */
const youngMs = 10 * 60_000;

/** Below the limit by a tenth, so that not every new blob asks for a trim. */
const trimTo = 0.9;

/**
 * What to remove so that the store fits its limit: what was not used for the longest time.
 *
 * Results go by their use; a blob goes with the last result that names it, or, named by none, by its own use. The two
 * compete by age: with results first, a tool that uploads what no result names would drive all results out.
 *
 * What is linked from a workspace costs the store nothing, and dropping it frees nothing: it does not count, and a
 * result most of whose bytes are such goes only when the rest does not do.
 */
export function chooseToTrim<Result extends ResultOnDisk, Blob extends BlobOnDisk>(
  results: readonly Result[],
  blobs: ReadonlyMap<number, Blob>,
  limitBytes: number,
  nowMs: number,
): ToTrim<Result, Blob> {
  const used = bytesUsed(results, blobs);
  if (used <= limitBytes) return { results: [], blobs: [] };
  let excess = used - limitBytes * trimTo;

  const named = new Map<number, number>();
  for (const result of results) {
    for (const key of result.blobs) named.set(key, (named.get(key) ?? 0) + 1);
  }
  // A clock that was ahead has left files of the future. They are as good as used now, no better.
  const age = ({ usedAtMs }: { readonly usedAtMs: number }) => Math.max(0, nowMs - usedAtMs);
  const dropped: Result[] = [];
  const removed: Blob[] = [];

  const remove = (blob: Blob | undefined) => {
    if (blob === undefined || blob.isHeld || blob.freeBytes === 0) return;
    removed.push(blob);
    excess -= blob.freeBytes;
  };
  const drop = (result: Result) => {
    dropped.push(result);
    excess -= result.bytes;
    for (const key of result.blobs) {
      const left = (named.get(key) ?? 0) - 1;
      named.set(key, left);
      if (left === 0) remove(blobs.get(key));
    }
  };

  const own: Result[] = [];
  const shared: Result[] = [];
  for (const result of results) {
    if (result.isHeld) continue;
    (isMostlyLinked(result, blobs) ? shared : own).push(result);
  }
  const unnamed = [...blobs.values()]
    .filter((blob) => !named.has(blob.key) && !blob.isHeld && blob.freeBytes > 0)
    .filter((blob) => age(blob) >= youngMs)
    .toSorted((a, b) => age(b) - age(a));
  let nextUnnamed = 0;

  for (const round of [own, shared]) {
    for (const result of round.toSorted((a, b) => age(b) - age(a))) {
      for (; nextUnnamed < unnamed.length; nextUnnamed++) {
        const blob = unnamed[nextUnnamed] as Blob;
        if (excess <= 0 || age(blob) < age(result)) break;
        remove(blob);
      }
      if (excess <= 0) break;
      drop(result);
    }
    for (; nextUnnamed < unnamed.length && excess > 0; nextUnnamed++) remove(unnamed[nextUnnamed]);
  }
  return { results: dropped, blobs: removed };
}

/** What the store costs: what would be free if it were gone. */
export function bytesUsed(
  results: readonly ResultOnDisk[],
  blobs: ReadonlyMap<number, BlobOnDisk>,
): number {
  let sum = 0;
  for (const { bytes } of results) sum += bytes;
  for (const { freeBytes } of blobs.values()) sum += freeBytes;
  return sum;
}

function isMostlyLinked(result: ResultOnDisk, blobs: ReadonlyMap<number, BlobOnDisk>): boolean {
  let all = 0;
  let free = 0;
  for (const key of result.blobs) {
    all += blobs.get(key)?.bytes ?? 0;
    free += blobs.get(key)?.freeBytes ?? 0;
  }
  return free * 2 < all;
}
