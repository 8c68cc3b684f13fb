import type { Evictable, NamespacedBlob } from "../evictable.ts";

/** Steps of a doubling of the time without use. */
const stepsPerDoubling = 16;
const steps = stepsPerDoubling * 32;

/** The bytes on a disk by the time of their last use, in constant space. */
export class BytesByIdleTime {
  bytes = 0;
  readonly #bySteps = new Float64Array(steps);

  add(sizeBytes: number, idleMs: number): void {
    this.bytes += sizeBytes;
    const step = stepOf(idleMs);
    this.#bySteps[step] = (this.#bySteps[step] ?? 0) + sizeBytes;
  }

  /** Returns the time without use, in ms, from which on blobs must go so that at most `mostBytes` stay. */
  idleMsToKeep(mostBytes: number): number {
    let left = this.bytes;
    let step = steps;
    while (left > mostBytes && step > 0) left -= this.#bySteps[--step] ?? 0;
    return step === steps ? Number.POSITIVE_INFINITY : leastIdleMs(step);
  }
}

function stepOf(idleMs: number): number {
  const step = Math.floor(stepsPerDoubling * Math.log2(1 + Math.max(0, idleMs) / 1_000));
  return Math.min(steps - 1, step);
}

function leastIdleMs(step: number): number {
  return (2 ** (step / stepsPerDoubling) - 1) * 1_000;
}

/**
 * Removes the copies that were used longest ago until at most `mostBytes` are on the disk. Returns the bytes that stay.
 *
 * The bucket has every blob, so that any copy may go; a reader that has its first chunk gets all of them.
 */
export async function trimCache(
  stored: Evictable,
  mostBytes: number,
  now: Date,
  signal: AbortSignal,
): Promise<number> {
  const idleMs = ({ lastUsedAt }: NamespacedBlob) => now.getTime() - lastUsedAt.getTime();
  const found = new BytesByIdleTime();
  for await (const blob of stored.list()) {
    signal.throwIfAborted();
    found.add(blob.digest.sizeBytes, idleMs(blob));
  }
  const leastMs = found.idleMsToKeep(mostBytes);
  if (leastMs === Number.POSITIVE_INFINITY) return found.bytes;
  let left = found.bytes;
  for await (const blob of stored.list()) {
    signal.throwIfAborted();
    if (left <= mostBytes) break;
    if (idleMs(blob) < leastMs) continue;
    // One millisecond later than the blob's own time: a use in the meantime spares it.
    const before = new Date(blob.lastUsedAt.getTime() + 1);
    if (await stored.removeUnused(blob.namespace, blob.digest, before))
      left -= blob.digest.sizeBytes;
  }
  return left;
}
