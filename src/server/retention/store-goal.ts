/** So far below the limit that not every new blob starts another round. */
const evictTo = 0.9;
/** Work that runs may take the store above its limit, but not further than this many times the limit. */
const ceilingOfLimit = 2;

const gibibyte = 1024 ** 3;
/** Of the disk. The rest is for the database, mirrors and uploads, which share the disk with the blobs. */
const usualShare = 0.75;
/** Of the disk, within limits: less than this free is taken for a disk that fills up. */
const reserveShare = 0.02;
const mostReserveBytes = 5 * gibibyte;

/** How large the store may grow where nobody says it. */
export function usualLimitBytes(diskBytes: number): number {
  return Math.floor(diskBytes * usualShare);
}

/** How many bytes are missing on a disk until it has its reserve free; 0 where it has. */
export function diskShortBytes(diskBytes: number, freeBytes: number): number {
  const reserve = Math.min(diskBytes * reserveShare, mostReserveBytes);
  return Math.max(0, Math.ceil(reserve - freeBytes));
}

/** What a round of eviction brings a store to. */
interface StoreGoal {
  /** Blobs of least worth go until the store has this many bytes. None of them is young. */
  readonly evictToBytes: number;
  /** If the store has more than this afterwards, young blobs that nothing names go, too. */
  readonly ceilingBytes: number;
}

/** What is to be done about a store of a size; undefined: nothing. */
export function storeGoal(
  bytes: number,
  limitBytes: number | undefined,
  shortBytes: number,
): StoreGoal | undefined {
  const limit = limitBytes ?? Number.POSITIVE_INFINITY;
  if (bytes <= limit && shortBytes === 0) return undefined;
  // What the disk lacks, the store gives, whatever else lies there.
  const forDisk = shortBytes > 0 ? Math.max(0, bytes - shortBytes) : Number.POSITIVE_INFINITY;
  return {
    evictToBytes: Math.min(bytes > limit ? limit * evictTo : Number.POSITIVE_INFINITY, forDisk),
    ceilingBytes: Math.min(limit * ceilingOfLimit, forDisk),
  };
}
