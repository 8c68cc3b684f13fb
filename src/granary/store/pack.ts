import { setImmediate } from "node:timers/promises";
import { errnoOf } from "#cas/disk-fault.ts";
import { chooseForRoom, chooseToCompact } from "./choose-to-compact.ts";
import { KeyMap, type Packed } from "./key-map.ts";
import { shortKey } from "./key-set.ts";
import {
  decodeHead,
  headBytes,
  mostHeadBytes,
  type PackedKind,
  type RecordHead,
} from "./pack-record.ts";
import { openPackSegments, type PlacedRecord } from "./pack-segments.ts";

/** Use within a minute of use that was noted is not noted. */
const noteUseAfterS = 60;

/** A limit of 10 GB is 160 of these: what is compacted at once is small beside it, and few files are open. */
const leastSegmentBytes = 64 * 1024 ** 2;
const segmentsOfLimit = 160;

const copiesInOneGo = 50;

/** A record that is what its name means. */
export interface LiveRecord {
  readonly key: number;
  readonly bytes: number;
  readonly usedAtMs: number;
}

/** Small things of a store, in a few files: results by the hash of their names, blobs by their hash. */
export interface Pack {
  has(kind: PackedKind, name: string): boolean;
  /** Of a blob how many bytes it has: 52 bits of its hash are compared, and nothing is read. */
  sizeOf(kind: PackedKind, name: string): number | undefined;
  /** Undefined also of what has rotted, or cannot be read back: it is none from then on. Bytes are not checked by their hash. */
  read(kind: PackedKind, name: string): Buffer | undefined;
  /** Replaces one of that name. */
  put(kind: PackedKind, name: string, bytes: Uint8Array): void;
  remove(kind: PackedKind, name: string): void;
  noteUse(kind: PackedKind, name: string): void;
  counts(): { readonly results: number; readonly blobs: number; readonly bytes: number };
  live(kind: PackedKind): Iterable<LiveRecord>;
  /** What memory does not have. */
  headByKey(kind: PackedKind, key: number): RecordHead | undefined;
  /** The name, and the bytes. */
  readByKey(
    kind: PackedKind,
    key: number,
  ): { readonly name: string; readonly bytes: Buffer } | undefined;
  usedAtMs(kind: PackedKind, key: number): number | undefined;
  /** A clock that was ahead has left times that would stay the youngest. */
  usedNow(kind: PackedKind, key: number): void;
  /** Writes anew what is mostly dead; on a full disk, as much as makes room. */
  compact(isDiskFull: boolean, signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface PackOptions {
  readonly directory: string;
  readonly limitBytes: number;
  readonly now: () => Date;
  /** For tests. */
  readonly segmentBytes?: number;
}

/**
 * Opens a pack that nobody else has open.
 *
 * The last record of a name says what is there. Nothing is synced: after a power cut a segment may end early or have holes,
 * and what is behind the first of them is gone, as a cache may lose it.
 */
export async function openPack(options: PackOptions): Promise<Pack> {
  const { directory, limitBytes, now } = options;
  const maps = { result: new KeyMap(), blob: new KeyMap() };
  const liveIn = new Map<number, number>();
  let liveBytes = 0;

  const segmentBytes =
    options.segmentBytes ?? Math.max(leastSegmentBytes, Math.ceil(limitBytes / segmentsOfLimit));
  const segments = await openPackSegments(directory, segmentBytes, learn);

  function count(segment: number, bytes: number): void {
    liveBytes += bytes;
    liveIn.set(segment, (liveIn.get(segment) ?? 0) + bytes);
  }

  function place(kind: PackedKind, key: number, packed: Packed): void {
    const before = maps[kind].set(key, packed);
    if (before !== undefined) count(before.segment, -before.bytes);
    count(packed.segment, packed.bytes);
  }

  function drop(kind: PackedKind, key: number): boolean {
    const before = maps[kind].delete(key);
    if (before !== undefined) count(before.segment, -before.bytes);
    return before !== undefined;
  }

  function learn({ head, segment, at }: PlacedRecord): void {
    const { kind, change } = changeOf(head);
    const key = shortKey(hexIn(head.name));
    if (change === "gone") drop(kind, key);
    else if (change === "used") {
      const known = maps[kind].get(key);
      if (known) maps[kind].set(key, { ...known, usedAtS: head.usedAtS });
    } else {
      const bytes = headBytes(head) + head.bodyBytes;
      place(kind, key, { segment, at, bytes, usedAtS: head.usedAtS });
    }
  }

  const nowS = () => Math.round(now().getTime() / 1_000);

  function append(kind: PackedKind, name: string, bytes: Uint8Array, usedAtS: number): void {
    const head = { kind, name, bodyBytes: bytes.byteLength, usedAtS };
    const { segment, at } = segments.append(head, bytes);
    const key = shortKey(hexIn(name));
    place(kind, key, { segment, at, bytes: headBytes(head) + bytes.byteLength, usedAtS });
  }

  /** Costs, on a full disk, only that the next process knows less. */
  function note(kind: RecordHead["kind"], name: string, usedAtS: number): void {
    try {
      segments.append({ kind, name, bodyBytes: 0, usedAtS });
    } catch (reason) {
      if (errnoOf(reason) === undefined) throw reason;
    }
  }

  /** What cannot be read back is none from then on. */
  function readUpTo(mostBytes: number, kind: PackedKind, key: number) {
    const known = maps[kind].get(key);
    if (known === undefined) return undefined;
    let record: Buffer | undefined;
    try {
      record = segments.read(known.segment, known.at, Math.min(known.bytes, mostBytes));
    } catch (reason) {
      if (errnoOf(reason) !== "EIO") throw reason;
    }
    const head = record && decodeHead(record);
    if (record !== undefined && head?.kind === kind) return { head, record };
    drop(kind, key);
    return undefined;
  }

  function readByKey(kind: PackedKind, key: number) {
    const read = readUpTo(Number.POSITIVE_INFINITY, kind, key);
    return read && { name: read.head.name, bytes: read.record.subarray(headBytes(read.head)) };
  }

  function remove(kind: PackedKind, name: string): void {
    if (drop(kind, shortKey(hexIn(name)))) note(`${kind}-gone`, name, 0);
  }

  function noteUseAt(kind: PackedKind, key: number, name: string): void {
    const known = maps[kind].get(key);
    const usedAtS = nowS();
    // Either way: a clock that was ahead left times that would never be behind again.
    if (known === undefined || Math.abs(usedAtS - known.usedAtS) <= noteUseAfterS) return;
    maps[kind].set(key, { ...known, usedAtS });
    note(`${kind}-used`, name, usedAtS);
  }

  /**
   * What of a segment still counts goes to the end of the newest; then the segment goes. On a full disk, it goes first:
   * who is killed just then has lost what a cache may lose.
   */
  async function rewrite(segment: number, isDiskFull: boolean, signal: AbortSignal): Promise<void> {
    const isOldest = segments.sizes().every((other) => other.segment >= segment);
    const kept: (() => void)[] = [];
    for (const [i, { head, at }] of segments.records(segment).entries()) {
      if (signal.aborted) return;
      const copy = copyOf({ head, segment, at }, isOldest, isDiskFull);
      if (copy === undefined) continue;
      if (isDiskFull) kept.push(copy);
      else copy();
      if (!isDiskFull && i % copiesInOneGo === copiesInOneGo - 1) await setImmediate();
    }
    segments.remove(segment);
    for (const copy of kept) copy();
    liveBytes -= liveIn.get(segment) ?? 0;
    liveIn.delete(segment);
  }

  /** How to write it anew, with all that takes in memory; undefined of what is dead. */
  function copyOf(
    { head, segment, at }: PlacedRecord,
    isOldest: boolean,
    isDiskFull: boolean,
  ): (() => void) | undefined {
    const { kind, change } = changeOf(head);
    const key = shortKey(hexIn(head.name));
    const known = maps[kind].get(key);
    if (change === "is" && known?.segment === segment && known.at === at) {
      const read = readByKey(kind, key);
      if (read === undefined) return undefined;
      return () => {
        try {
          append(kind, read.name, read.bytes, known.usedAtS);
        } catch (reason) {
          // Where it was it is no more, or will not be.
          if (!isDiskFull) throw reason;
          drop(kind, key);
        }
      };
    }
    // What it says is none may still lie in an older one.
    const isNeeded = change === "gone" && known === undefined && !isOldest;
    return isNeeded ? () => note(head.kind, head.name, 0) : undefined;
  }

  return {
    has: (kind, name) => maps[kind].has(shortKey(hexIn(name))),
    sizeOf(kind, name) {
      const known = maps[kind].get(shortKey(hexIn(name)));
      return known && known.bytes - headBytes({ name });
    },
    read(kind, name) {
      const found = readByKey(kind, shortKey(hexIn(name)));
      return found?.name === name ? found.bytes : undefined;
    },
    put: (kind, name, bytes) => append(kind, name, bytes, nowS()),
    remove,
    noteUse: (kind, name) => noteUseAt(kind, shortKey(hexIn(name)), name),
    counts: () => ({ results: maps.result.size, blobs: maps.blob.size, bytes: liveBytes }),
    *live(kind) {
      for (const [key, { bytes, usedAtS }] of maps[kind].entries()) {
        yield { key, bytes, usedAtMs: usedAtS * 1_000 };
      }
    },
    headByKey: (kind, key) => readUpTo(mostHeadBytes, kind, key)?.head,
    readByKey,
    usedAtMs(kind, key) {
      const known = maps[kind].get(key);
      return known && known.usedAtS * 1_000;
    },
    usedNow(kind, key) {
      const head = readUpTo(mostHeadBytes, kind, key)?.head;
      if (head !== undefined) noteUseAt(kind, key, head.name);
    },
    async compact(isDiskFull, signal) {
      const sizes = segments
        .sizes()
        .map((one) => ({ ...one, liveBytes: liveIn.get(one.segment) ?? 0 }));
      for (const segment of isDiskFull
        ? chooseForRoom(sizes)
        : chooseToCompact(sizes, segmentBytes)) {
        if (signal.aborted) return;
        await rewrite(segment, isDiskFull, signal);
      }
    },
    close: () => segments.close(),
  };
}

/** Names of blobs by other functions than SHA-256 begin with the function's. */
function hexIn(name: string): string {
  return name.slice(name.indexOf("-") + 1);
}

function changeOf({ kind }: RecordHead): {
  readonly kind: PackedKind;
  readonly change: "is" | "gone" | "used";
} {
  const [of, change = "is"] = kind.split("-") as [PackedKind, ("gone" | "used")?];
  return { kind: of, change };
}
