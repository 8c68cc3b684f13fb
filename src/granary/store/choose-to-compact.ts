export interface PackedSegment {
  readonly segment: number;
  readonly bytes: number;
  /** The bytes of records that are still valid. */
  readonly liveBytes: number;
  readonly isHead: boolean;
}

/** At this share of dead bytes, each copied byte frees one. */
const leastDead = 0.5;

/**
 * The share when a person requests it. The rest costs less than a build's results: it is mostly
 * notes of use.
 */
const leastDeadWhenRequested = 0.05;

/** How much to compact. `asked`: a person requested it. */
export type Compacting = "usual" | "disk-full" | "asked";

/** Each process begins its own segment: when this many segments are less than an eighth full, they are merged. */
const mostSmall = 16;
const smallShare = 1 / 8;

/**
 * Returns the segments to rewrite without their dead records, those with the most dead bytes first: their space is
 * freed before others need it.
 */
export function chooseToCompact(segments: readonly PackedSegment[], fullBytes: number): number[] {
  const sealed = segments.filter(({ isHead }) => !isHead);
  const small = sealed.filter(({ bytes }) => bytes < fullBytes * smallShare);
  const together = new Set(small.length > mostSmall ? small : []);
  return sealed
    .filter((one) => together.has(one) || deadBytes(one) >= one.bytes * leastDead)
    .toSorted((a, b) => a.liveBytes - b.liveBytes)
    .map(({ segment }) => segment);
}

/** When a person requests it: all packs that free a significant amount. */
export function chooseWhenRequested(segments: readonly PackedSegment[]): number[] {
  return segments
    .filter((one) => !one.isHead && deadBytes(one) > one.bytes * leastDeadWhenRequested)
    .toSorted((a, b) => a.liveBytes - b.liveBytes)
    .map(({ segment }) => segment);
}

/**
 * On a full disk, returns the segments that hold half of the dead bytes: space is needed now, and rewriting all would
 * cost much for little.
 */
export function chooseForRoom(segments: readonly PackedSegment[]): number[] {
  let left = segments.reduce((sum, one) => sum + deadBytes(one), 0) / 2;
  const chosen: number[] = [];
  for (const one of segments.toSorted((a, b) => shareOf(b) - shareOf(a))) {
    if (left <= 0 || deadBytes(one) <= 0) break;
    left -= deadBytes(one);
    chosen.push(one.segment);
  }
  return chosen;
}

function deadBytes({ bytes, liveBytes }: PackedSegment): number {
  return bytes - liveBytes;
}

function shareOf(one: PackedSegment): number {
  return deadBytes(one) / Math.max(1, one.bytes);
}
