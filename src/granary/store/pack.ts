import { setImmediate } from "node:timers/promises";
import { errnoOf } from "#cas/disk-fault.ts";
import {
  type Compacting,
  chooseForRoom,
  chooseToCompact,
  chooseWhenRequested,
  type PackedSegment,
} from "./choose-to-compact.ts";
import { changeOf, type Rewriting, whatToCopy } from "./choose-to-copy.ts";
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
  /** `bytes`: of what is alive. */
  counts(): { readonly results: number; readonly blobs: number; readonly bytes: number };
  /** With what is dead and not dropped yet. */
  diskBytes(): number;
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
  /** What was put and removed before stays so after a power cut. Throws where the disk does not take that. */
  sync(): Promise<void>;
  /** Writes anew what is mostly dead; on a full disk, as much as makes room. */
  compact(how: Compacting, signal: AbortSignal): Promise<void>;
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
 * The last record of a name says what is there. Nothing is synced unless asked for, or when older records are dropped for
 * their copies: after a power cut a segment may end early or have holes, and what is behind the first of them is gone, as
 * a cache may lose it.
 */
export async function openPack(options: PackOptions): Promise<Pack> {
  const { directory, limitBytes, now } = options;
  const maps = { result: new KeyMap(), blob: new KeyMap() };
  const liveIn = new Map<number, number>();
  let liveBytes = 0;
  /** Removals that a full disk did not take: the next process would find what they are of. */
  const unsaid = new Map<string, PackedKind>();

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
    const { kind, change } = changeOf(head.kind);
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
    unsaid.delete(name);
    const key = shortKey(hexIn(name));
    place(kind, key, { segment, at, bytes: headBytes(head) + bytes.byteLength, usedAtS });
    trySayGone();
  }

  /** Costs, on a full disk, only that the next process knows less. */
  function noteUsed(kind: PackedKind, name: string, usedAtS: number): void {
    try {
      segments.append({ kind: `${kind}-used`, name, bodyBytes: 0, usedAtS });
    } catch (reason) {
      if (errnoOf(reason) === undefined) throw reason;
    }
  }

  function noteGone(kind: PackedKind, name: string): void {
    unsaid.set(name, kind);
    trySayGone();
  }

  /** Or with the next record. */
  function trySayGone(): void {
    try {
      sayGone();
    } catch (reason) {
      if (errnoOf(reason) === undefined) throw reason;
    }
  }

  function sayGone(): void {
    for (const [name, kind] of unsaid) {
      segments.append({ kind: `${kind}-gone`, name, bodyBytes: 0, usedAtS: 0 });
      unsaid.delete(name);
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
    if (drop(kind, shortKey(hexIn(name)))) noteGone(kind, name);
  }

  function noteUseAt(kind: PackedKind, key: number, name: string): void {
    const known = maps[kind].get(key);
    const usedAtS = nowS();
    // Either way: a clock that was ahead left times that would never be behind again.
    if (known === undefined || Math.abs(usedAtS - known.usedAtS) <= noteUseAfterS) return;
    maps[kind].set(key, { ...known, usedAtS });
    noteUsed(kind, name, usedAtS);
  }

  /**
   * What of a segment still counts goes to the end of the newest; then, when that is on disk, the segment goes. On a full
   * disk, it goes first: who is killed just then has lost what a cache may lose.
   */
  async function rewrite(segment: number, isDiskFull: boolean, signal: AbortSignal): Promise<void> {
    const isOldest = segments.sizes().every((other) => other.segment >= segment);
    const later: (() => void)[] = [];
    let copied = 0;
    const moved = new Set<number>();
    for (const [i, { head, at }] of segments.records(segment).entries()) {
      if (signal.aborted) return;
      const copy = copyOf({ head, segment, at }, { isOldest, isDiskFull }, moved);
      if (copy === undefined) continue;
      if (isDiskFull) {
        later.push(copy);
        continue;
      }
      copy();
      copied++;
      if (i % copiesInOneGo === copiesInOneGo - 1) await setImmediate();
    }
    if (copied > 0) await segments.sync();
    segments.remove(segment);
    for (const copy of later) copy();
    dropRestOf(segment);
  }

  /** Of what has rotted since it was opened, not all records are found again. */
  function dropRestOf(segment: number): void {
    if (liveIn.get(segment)) {
      for (const kind of ["result", "blob"] as const) {
        // A map whose entries move up when one goes.
        const all = [...maps[kind].entries()];
        for (const [key, packed] of all) if (packed.segment === segment) drop(kind, key);
      }
    }
    liveIn.delete(segment);
  }

  /** How to write it anew, with all that takes in memory; undefined of what is dead. */
  function copyOf(
    { head, segment, at }: PlacedRecord,
    how: Omit<Rewriting, "isMoved">,
    moved: Set<number>,
  ): (() => void) | undefined {
    const { kind, change } = changeOf(head.kind);
    const key = shortKey(hexIn(head.name));
    const known = maps[kind].get(key);
    const { usedAtS } = head;
    const isMoved = moved.has(key);
    switch (whatToCopy({ change, segment, at, usedAtS }, known, { ...how, isMoved })) {
      case "dropped":
        return undefined;
      case "said again":
        return change === "gone"
          ? () => noteGone(kind, head.name)
          : () => noteUsed(kind, head.name, usedAtS);
      case "moved": {
        const read = readByKey(kind, key);
        if (read === undefined) return undefined;
        moved.add(key);
        return () => {
          try {
            append(kind, read.name, read.bytes, known?.usedAtS ?? 0);
          } catch (reason) {
            // Where it was it is no more, or will not be.
            if (!how.isDiskFull) throw reason;
            drop(kind, key);
          }
        };
      }
    }
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
    diskBytes: () => segments.sizes().reduce((sum, { bytes }) => sum + bytes, 0),
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
    async sync() {
      sayGone();
      await segments.sync();
    },
    async compact(how, signal) {
      if (how === "asked") segments.seal();
      const sizes = segments
        .sizes()
        .map((one) => ({ ...one, liveBytes: liveIn.get(one.segment) ?? 0 }));
      for (const segment of chosenOf(how, sizes, segmentBytes)) {
        if (signal.aborted) return;
        await rewrite(segment, how === "disk-full", signal);
      }
    },
    close: () => segments.close(),
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

/** Names of blobs by other functions than SHA-256 begin with the function's. */
function hexIn(name: string): string {
  return name.slice(name.indexOf("-") + 1);
}
