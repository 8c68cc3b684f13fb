import type { Digest } from "#core/digest.ts";

/** Bazel relies on blobs that the farm has named for this time (`--experimental_remote_cache_ttl`). In ms. */
const leaseMs = 3 * 60 * 60_000;
/** Presence is cached for a minute, a use is recorded once a minute, and clocks differ. */
const slackMs = 5 * 60_000;

/** A blob that was requested within this time stays, even when the store is full. */
export const youngMs = leaseMs + slackMs;

const mebibyte = 1024 ** 2;

/** The largest weight of a large blob. */
const mostWeight = 4;

/**
 * Returns how much faster a blob ages because of its size.
 *
 * Greedy-Dual-Size-Frequency divides by the size: then no large blob outlives a small one. Here a blob of 16 MiB ages
 * twice as fast as one of 1 MiB, and one of 4 GiB four times as fast: blobs whose removal costs the cache little are
 * removed first, and use has more weight.
 */
export function weightOf(sizeBytes: number): number {
  return Math.min(mostWeight, Math.max(1, 1 + Math.log2(sizeBytes / mebibyte) / 4));
}

/** Steps of a quarter of a per cent: half a minute at 3 h, two hours at 30 days. */
const stepsPerDoubling = 256;
/** 3 h doubled twenty times is longer than any file can be old. */
const steps = stepsPerDoubling * 20;

/** Returns the rank of a blob for removal: a step of its age, multiplied by its weight. 0 for a young one. */
export function stepOf(idleMs: number, sizeBytes: number): number {
  if (idleMs < youngMs) return 0;
  const step =
    1 + Math.floor(stepsPerDoubling * Math.log2((idleMs * weightOf(sizeBytes)) / youngMs));
  return Math.min(steps, step);
}

/** Returns the minimum time without use of a blob in `step` or a higher step, whatever its size. */
export function leastIdleMs(step: number): number {
  return Math.max(youngMs, (youngMs * 2 ** ((step - 1) / stepsPerDoubling)) / mostWeight);
}

/** Why a blob is kept despite its age: unfinished work needs it (`firm`), or people may want it (`light`). */
export type Hold = "firm" | "light";

/** A step of at most this many blobs is removed as a whole; from larger steps, blobs are chosen at random. */
const fewBlobs = 64;

/** The numbers of bytes and blobs in each step. */
class BySteps {
  readonly bytes = new Float64Array(steps + 1);
  readonly blobs = new Float64Array(steps + 1);

  add(step: number, sizeBytes: number): void {
    this.bytes[step] = (this.bytes[step] ?? 0) + sizeBytes;
    this.blobs[step] = (this.blobs[step] ?? 0) + 1;
  }
}

/** The content of a store by value, in constant space for any number of blobs. */
export class Worth {
  blobs = 0;
  bytes = 0;
  youngBytes = 0;
  firmBytes = 0;
  readonly #free = new BySteps();
  readonly #light = new BySteps();

  add(sizeBytes: number, idleMs: number, hold: Hold | undefined): void {
    this.blobs++;
    this.bytes += sizeBytes;
    const step = stepOf(idleMs, sizeBytes);
    if (step === 0) this.youngBytes += sizeBytes;
    else if (hold === "firm") this.firmBytes += sizeBytes;
    else (hold === "light" ? this.#light : this.#free).add(step, sizeBytes);
  }

  /** Returns which blobs to remove to free `excessBytes`; lightly held ones only when all others do not suffice. */
  cut(excessBytes: number): Cut {
    const free = cutAmong(this.#free, excessBytes);
    const light = cutAmong(this.#light, excessBytes - free.bytes);
    const shortByBytes = Math.max(0, excessBytes - free.bytes - light.bytes);
    return { free, light, shortByBytes, turn: (excessBytes % 997) / 997 };
  }
}

/** All blobs above a step, and a share of the blobs in that step. */
interface CutAmong {
  readonly step: number;
  readonly share: number;
  readonly bytes: number;
}

export interface Cut {
  readonly free: CutAmong;
  readonly light: CutAmong;
  /** The bytes that are still missing after all removable blobs are removed. */
  readonly shortByBytes: number;
  /** From 0 to 1, different in each round, so that no blob is spared forever. */
  readonly turn: number;
}

function cutAmong(among: BySteps, excessBytes: number): CutAmong {
  let bytes = 0;
  for (let step = steps; step > 0; step--) {
    const here = among.bytes[step] ?? 0;
    const missing = excessBytes - bytes;
    if (missing <= 0) return { step, share: 0, bytes };
    // In a copied store all blobs have the same age: they must not all be removed at once.
    if (here > missing && (among.blobs[step] ?? 0) > fewBlobs) {
      return { step, share: missing / here, bytes: excessBytes };
    }
    bytes += here;
  }
  return { step: 0, share: 0, bytes };
}

/** Returns whether to remove a blob; the same for all callers in one round. */
export function goes(
  { free, light, turn }: Cut,
  digest: Digest,
  idleMs: number,
  hold: Hold | undefined,
): boolean {
  const step = stepOf(idleMs, digest.sizeBytes);
  if (step === 0 || hold === "firm") return false;
  const among = hold === "light" ? light : free;
  if (step !== among.step) return step > among.step;
  return (placeOf(digest) + turn) % 1 < among.share;
}

/** Returns the minimum time without use of any blob that the cut removes. */
export function leastIdleOf({ free, light }: Cut): number {
  const stepsThatGo = [free, light]
    .filter(({ bytes }) => bytes > 0)
    .map(({ step }) => Math.max(1, step));
  return stepsThatGo.length === 0
    ? Number.POSITIVE_INFINITY
    : leastIdleMs(Math.min(...stepsThatGo));
}

/** Returns a number from 0 to 1; it is as good as random, because hashes are. */
function placeOf({ hash }: Digest): number {
  return Number.parseInt(hash.slice(-8), 16) / 2 ** 32;
}
