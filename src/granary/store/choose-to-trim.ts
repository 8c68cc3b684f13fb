import { integerMinHeap } from "#commit-index/integer-min-heap.ts";
import { takingTurns } from "#scheduling/take-turns.ts";

/** A result in the trim's input; its keys are short keys: see `key-set.ts`. */
export interface ResultOnDisk {
  readonly usedAtMs: number;
  readonly bytes: number;
  /** The blobs that it names, with its value. */
  readonly blobs: readonly number[];
  /** Whether it is waiting to be sent to the farm. */
  readonly isHeld: boolean;
}

export interface BlobOnDisk {
  readonly key: number;
  readonly bytes: number;
  /** The bytes that its removal frees: 0 for a file with other links. */
  readonly freeBytes: number;
  readonly usedAtMs: number;
  readonly isHeld: boolean;
}

interface ToTrim<Result, Blob> {
  readonly results: readonly Result[];
  readonly blobs: readonly Blob[];
  /** The bytes that the store uses before trimming. */
  readonly usedBytes: number;
}

interface TrimLimit {
  readonly limitBytes: number;
  /** The disk has no space for more data, whatever the limit. */
  readonly isDiskFull?: boolean;
}

/** A client that uploads a blob refers to it in a result soon after, or never. */
const youngMs = 10 * 60_000;

/** A tenth below the limit, so that not every new blob causes a trim. */
const trimTo = 0.9;

/**
 * Returns what to remove so that the store fits its limit: the least recently used.
 *
 * Results are ordered by their use; a blob goes with the last result that names it, or, without one, by its own use.
 * Both compete by age: if results were removed first, a tool that uploads blobs without results would displace all
 * results.
 *
 * A file that is linked from a workspace takes no extra space, and dropping it frees nothing: it does not count, and a
 * result that mostly consists of such files goes only when the rest does not suffice.
 */
export function chooseToTrim<Result extends ResultOnDisk, Blob extends BlobOnDisk>(
  ...store: Parameters<typeof choosing<Result, Blob>>
): ToTrim<Result, Blob> {
  const steps = choosing(...store);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The same without blocking the process: for a million files it takes some seconds. */
export async function chooseToTrimInTurns<Result extends ResultOnDisk, Blob extends BlobOnDisk>(
  ...store: Parameters<typeof choosing<Result, Blob>>
): Promise<ToTrim<Result, Blob>> {
  const turn = takingTurns(undefined, "trimming");
  const steps = choosing(...store);
  for (let step = 1; ; step++) {
    const { done, value } = steps.next();
    if (done) return value;
    if (step % stepsPerTurn === 0) await turn();
  }
}

/** This number takes some tens of microseconds. */
const stepsPerTurn = 64;

/** Each step examines one item. */
function* choosing<Result extends ResultOnDisk, Blob extends BlobOnDisk>(
  results: readonly Result[],
  blobs: ReadonlyMap<number, Blob>,
  { limitBytes, isDiskFull = false }: TrimLimit,
  nowMs: number,
): Generator<void, ToTrim<Result, Blob>> {
  let usedBytes = 0;
  const named = new Map<number, number>();
  for (const { bytes, blobs: its } of results) {
    usedBytes += bytes;
    for (const key of its) named.set(key, (named.get(key) ?? 0) + 1);
    yield;
  }
  for (const { freeBytes } of blobs.values()) {
    usedBytes += freeBytes;
    yield;
  }
  const mostBytes = isDiskFull ? Math.min(limitBytes, usedBytes - 1) : limitBytes;
  if (usedBytes <= mostBytes) return { results: [], blobs: [], usedBytes };
  let excess = usedBytes - mostBytes * trimTo;

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

  const own = oldestFirst<Result>(results.length, nowMs);
  const shared = oldestFirst<Result>(results.length, nowMs);
  for (const result of results) {
    if (!result.isHeld) (isMostlyLinked(result, blobs) ? shared : own).push(result);
    yield;
  }
  const unnamed = oldestFirst<Blob>(blobs.size, nowMs);
  for (const blob of blobs.values()) {
    const mayGo = !named.has(blob.key) && !blob.isHeld && blob.freeBytes > 0;
    if (mayGo && ageOf(blob, nowMs) >= youngMs) unnamed.push(blob);
    yield;
  }

  for (const round of [own, shared]) {
    for (let next = round.oldest(); next !== undefined && excess > 0; next = round.oldest()) {
      const lone = unnamed.oldest();
      if (lone !== undefined && ageOf(lone, nowMs) >= ageOf(next, nowMs)) {
        remove(unnamed.pop());
      } else {
        drop(next);
        round.pop();
      }
      yield;
    }
    while (unnamed.oldest() !== undefined && excess > 0) {
      remove(unnamed.pop());
      yield;
    }
  }
  return { results: dropped, blobs: removed, usedBytes };
}

/** A clock that was ahead may have left times in the future. They count as used now. */
function ageOf({ usedAtMs }: { readonly usedAtMs: number }, nowMs: number): number {
  return Math.max(0, nowMs - usedAtMs);
}

/**
 * Returns items, the oldest first; sorts only the part that is read, because sorting a million
 * items would block for long.
 */
function oldestFirst<T extends { readonly usedAtMs: number }>(most: number, nowMs: number) {
  const things: T[] = [];
  const order = integerMinHeap(most);
  const at = (index: number | undefined) => (index === undefined ? undefined : things[index]);
  return {
    push(thing: T) {
      order.push(things.length, -ageOf(thing, nowMs));
      things.push(thing);
    },
    oldest: () => at(order.least()),
    pop: () => at(order.pop()),
  };
}

/** Returns the bytes that removing the whole store would free. */
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
