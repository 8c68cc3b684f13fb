import {
  type Compacting,
  chooseForRoom,
  chooseToCompact,
  chooseWhenRequested,
  type PackedSegment,
} from "./choose-to-compact.ts";
import { shortKey } from "./key-set.ts";
import { headBytes, mostHeadBytes, type PackedKind, type RecordHead } from "./pack-record.ts";
import { openPackSegments } from "./pack-segments.ts";
import {
  append,
  hexIn,
  learn,
  noRecords,
  noteUseAt,
  nowS,
  type PackState,
  readByKey,
  readUpTo,
  recordRemovals,
  remove,
} from "./pack-state.ts";
import { rewriteSegment } from "./rewrite-segment.ts";

/** A limit of 10 GB is 160 of these: one compaction is small compared with it, and few files are open. */
const leastSegmentBytes = 64 * 1024 ** 2;
const segmentsOfLimit = 160;

/** The valid record of a name. */
interface LiveRecord {
  readonly key: number;
  readonly bytes: number;
  readonly usedAtMs: number;
}

/** The small items of a store in a few files: results by the hash of their names, blobs by their hash. */
export interface Pack {
  has(kind: PackedKind, name: string): boolean;
  /** Returns the size of a blob: compares 52 bits of its hash, and reads nothing. */
  sizeOf(kind: PackedKind, name: string): number | undefined;
  /**
   * Returns undefined also for corrupt or unreadable records, which are then dropped. Bytes are not checked by their
   * hash.
   */
  read(kind: PackedKind, name: string): Buffer | undefined;
  /** Replaces a record of the same name. */
  put(kind: PackedKind, name: string, bytes: Uint8Array): void;
  remove(kind: PackedKind, name: string): void;
  noteUse(kind: PackedKind, name: string): void;
  /** `bytes`: the bytes of live records. */
  counts(): { readonly results: number; readonly blobs: number; readonly bytes: number };
  /** Including dead data that are not removed yet. */
  diskBytes(): number;
  live(kind: PackedKind): Iterable<LiveRecord>;
  /** Reads a record's head, which contains data that are not in memory. */
  headByKey(kind: PackedKind, key: number): RecordHead | undefined;
  /** Returns the name and the bytes. */
  readByKey(
    kind: PackedKind,
    key: number,
  ): { readonly name: string; readonly bytes: Buffer } | undefined;
  usedAtMs(kind: PackedKind, key: number): number | undefined;
  /**
   * Sets the time of use to now: a clock that was ahead has left times that would stay the
   * youngest.
   */
  usedNow(kind: PackedKind, key: number): void;
  /** Makes earlier changes durable. Throws when the disk fails. */
  sync(): Promise<void>;
  /** Rewrites segments that are mostly dead; on a full disk, as many as needed to free space. */
  compact(how: Compacting, signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface PackOptions {
  readonly directory: string;
  readonly limitBytes: number;
  readonly now: () => Date;
  /** For tests only. */
  readonly segmentBytes?: number;
}

/**
 * Opens a pack, which no other process has open.
 *
 * The last record of a name decides. Nothing is synced except on request, or when older records are removed after being
 * copied. So after a power cut a segment may end early or have holes; the records after the first hole are lost, which
 * is acceptable for a cache.
 */
export async function openPack(options: PackOptions): Promise<Pack> {
  const { directory, limitBytes, now } = options;
  const segmentBytes =
    options.segmentBytes ?? Math.max(leastSegmentBytes, Math.ceil(limitBytes / segmentsOfLimit));
  const known = noRecords();
  const segments = await openPackSegments(directory, segmentBytes, (record) =>
    learn(known, record),
  );
  const pack: PackState = { ...known, segments, unrecordedRemovals: new Map(), now };

  return {
    has: (kind, name) => pack.maps[kind].has(shortKey(hexIn(name))),
    sizeOf(kind, name) {
      const known = pack.maps[kind].get(shortKey(hexIn(name)));
      return known && known.bytes - headBytes({ name });
    },
    read(kind, name) {
      const found = readByKey(pack, kind, shortKey(hexIn(name)));
      return found?.name === name ? found.bytes : undefined;
    },
    put: (kind, name, bytes) => append(pack, kind, name, bytes, nowS(pack)),
    remove: (kind, name) => remove(pack, kind, name),
    noteUse: (kind, name) => noteUseAt(pack, kind, shortKey(hexIn(name)), name),
    counts: () => ({
      results: pack.maps.result.size,
      blobs: pack.maps.blob.size,
      bytes: pack.liveBytes,
    }),
    diskBytes: () => pack.segments.sizes().reduce((sum, { bytes }) => sum + bytes, 0),
    *live(kind) {
      for (const [key, { bytes, usedAtS }] of pack.maps[kind].entries()) {
        yield { key, bytes, usedAtMs: usedAtS * 1_000 };
      }
    },
    headByKey: (kind, key) => readUpTo(pack, mostHeadBytes, kind, key)?.head,
    readByKey: (kind, key) => readByKey(pack, kind, key),
    usedAtMs(kind, key) {
      const known = pack.maps[kind].get(key);
      return known && known.usedAtS * 1_000;
    },
    usedNow(kind, key) {
      const head = readUpTo(pack, mostHeadBytes, kind, key)?.head;
      if (head !== undefined) noteUseAt(pack, kind, key, head.name);
    },
    async sync() {
      recordRemovals(pack);
      await pack.segments.sync();
    },
    async compact(how, signal) {
      if (how === "asked") pack.segments.seal();
      const sizes = pack.segments
        .sizes()
        .map((one) => ({ ...one, liveBytes: pack.liveIn.get(one.segment) ?? 0 }));
      for (const segment of chosenOf(how, sizes, segmentBytes)) {
        if (signal.aborted) return;
        await rewriteSegment(pack, segment, how === "disk-full", signal);
      }
    },
    close: () => pack.segments.close(),
  };
}

function chosenOf(
  how: Compacting,
  sizes: readonly PackedSegment[],
  segmentBytes: number,
): number[] {
  switch (how) {
    case "usual":
      return chooseToCompact(sizes, segmentBytes);
    case "disk-full":
      return chooseForRoom(sizes);
    case "asked":
      return chooseWhenRequested(sizes);
  }
}
