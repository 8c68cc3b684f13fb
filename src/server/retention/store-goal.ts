/** So far below the limit that a few new blobs do not start another round. */
const evictTo = 0.9;
/** Running work may bring the store above its limit, but not above the limit times this factor. */
const ceilingOfLimit = 2;

const gibibyte = 1024 ** 3;
/** A share of the disk. The rest is for the database, mirrors and uploads, which share the disk with the blobs. */
const defaultShare = 0.75;
/** A share of the disk, within bounds: with less free space than this, the disk counts as nearly full. */
const reserveShare = 0.02;
const mostReserveBytes = 5 * gibibyte;

/** Returns the limit of the store when none is configured. */
export function defaultLimitBytes(diskBytes: number): number {
  return Math.floor(diskBytes * defaultShare);
}

/** Returns the number of bytes that must be freed on a disk until its reserve is free; 0 if it is. */
export function diskShortBytes(diskBytes: number, freeBytes: number): number {
  const reserve = Math.min(diskBytes * reserveShare, mostReserveBytes);
  return Math.max(0, Math.ceil(reserve - freeBytes));
}

/** The goal of a round of eviction. */
interface StoreGoal {
  /** Blobs of least value are removed until the store has this many bytes. No young blob is removed. */
  readonly evictToBytes: number;
  /** If the store is larger than this afterwards, young blobs without a name are removed, too. */
  readonly ceilingBytes: number;
}

/** Returns the goal for a store of a given size; undefined: no eviction. */
export function storeGoal(
  bytes: number,
  limitBytes: number | undefined,
  shortBytes: number,
): StoreGoal | undefined {
  const limit = limitBytes ?? Number.POSITIVE_INFINITY;
  if (bytes <= limit && shortBytes === 0) return undefined;
  // The store must free the space that the disk lacks, whatever other files are on it.
  const forDisk = shortBytes > 0 ? Math.max(0, bytes - shortBytes) : Number.POSITIVE_INFINITY;
  return {
    evictToBytes: Math.min(bytes > limit ? limit * evictTo : Number.POSITIVE_INFINITY, forDisk),
    ceilingBytes: Math.min(limit * ceilingOfLimit, forDisk),
  };
}
