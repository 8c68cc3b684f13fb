import { errnoOf } from "#cas/disk/disk-fault.ts";
import { changeOf } from "./choose-to-copy.ts";
import { KeyMap, type Packed } from "./key-map.ts";
import { shortKey } from "./key-set.ts";
import { decodeHead, headBytes, type PackedKind } from "./pack-record.ts";
import type { PackSegments, PlacedRecord } from "./pack-segments.ts";

/** A use within a minute of a recorded use is not recorded. */
const noteUseAfterS = 60;

/** The valid records and their places. */
interface KnownRecords {
  readonly maps: { readonly [Kind in PackedKind]: KeyMap };
  /** The bytes of valid records, by segment. */
  readonly liveIn: Map<number, number>;
  liveBytes: number;
}

/** An open pack: its known records, and its position for writing. */
export interface PackState extends KnownRecords {
  readonly segments: PackSegments;
  /** Removals that a full disk did not store: the next process would still find the removed records. */
  readonly unrecordedRemovals: Map<string, PackedKind>;
  readonly now: () => Date;
}

export function noRecords(): KnownRecords {
  return { maps: { result: new KeyMap(), blob: new KeyMap() }, liveIn: new Map(), liveBytes: 0 };
}

function count(pack: KnownRecords, segment: number, bytes: number): void {
  pack.liveBytes += bytes;
  pack.liveIn.set(segment, (pack.liveIn.get(segment) ?? 0) + bytes);
}

function place(pack: KnownRecords, kind: PackedKind, key: number, packed: Packed): void {
  const before = pack.maps[kind].set(key, packed);
  if (before !== undefined) count(pack, before.segment, -before.bytes);
  count(pack, packed.segment, packed.bytes);
}

export function drop(pack: KnownRecords, kind: PackedKind, key: number): boolean {
  const before = pack.maps[kind].delete(key);
  if (before !== undefined) count(pack, before.segment, -before.bytes);
  return before !== undefined;
}

/** Processes a record of a segment that is being opened; the oldest come first. */
export function learn(pack: KnownRecords, { head, segment, at }: PlacedRecord): void {
  const { kind, change } = changeOf(head.kind);
  const key = shortKey(hexIn(head.name));
  if (change === "gone") drop(pack, kind, key);
  else if (change === "used") {
    const known = pack.maps[kind].get(key);
    if (known) pack.maps[kind].set(key, { ...known, usedAtS: head.usedAtS });
  } else {
    const bytes = headBytes(head) + head.bodyBytes;
    place(pack, kind, key, { segment, at, bytes, usedAtS: head.usedAtS });
  }
}

export function append(
  pack: PackState,
  kind: PackedKind,
  name: string,
  bytes: Uint8Array,
  usedAtS: number,
): void {
  const head = { kind, name, bodyBytes: bytes.byteLength, usedAtS };
  const { segment, at } = pack.segments.append(head, bytes);
  pack.unrecordedRemovals.delete(name);
  const key = shortKey(hexIn(name));
  place(pack, kind, key, { segment, at, bytes: headBytes(head) + bytes.byteLength, usedAtS });
  tryRecordRemovals(pack);
}

/** On a full disk, only the next process lacks this record. */
export function recordUse(pack: PackState, kind: PackedKind, name: string, usedAtS: number): void {
  try {
    pack.segments.append({ kind: `${kind}-used`, name, bodyBytes: 0, usedAtS });
  } catch (reason) {
    if (errnoOf(reason) === undefined) throw reason;
  }
}

export function recordRemoval(pack: PackState, kind: PackedKind, name: string): void {
  pack.unrecordedRemovals.set(name, kind);
  tryRecordRemovals(pack);
}

/** If this fails, the next record retries it. */
function tryRecordRemovals(pack: PackState): void {
  try {
    recordRemovals(pack);
  } catch (reason) {
    if (errnoOf(reason) === undefined) throw reason;
  }
}

export function recordRemovals(pack: PackState): void {
  for (const [name, kind] of pack.unrecordedRemovals) {
    pack.segments.append({ kind: `${kind}-gone`, name, bodyBytes: 0, usedAtS: 0 });
    pack.unrecordedRemovals.delete(name);
  }
}

/** Reads up to a number of bytes; an unreadable record is removed. */
export function readUpTo(pack: PackState, mostBytes: number, kind: PackedKind, key: number) {
  const known = pack.maps[kind].get(key);
  if (known === undefined) return undefined;
  let record: Buffer | undefined;
  try {
    record = pack.segments.read(known.segment, known.at, Math.min(known.bytes, mostBytes));
  } catch (reason) {
    if (errnoOf(reason) !== "EIO") throw reason;
  }
  const head = record && decodeHead(record);
  if (record !== undefined && head?.kind === kind) return { head, record };
  drop(pack, kind, key);
  return undefined;
}

export function readByKey(pack: PackState, kind: PackedKind, key: number) {
  const read = readUpTo(pack, Number.POSITIVE_INFINITY, kind, key);
  return read && { name: read.head.name, bytes: read.record.subarray(headBytes(read.head)) };
}

export function remove(pack: PackState, kind: PackedKind, name: string): void {
  if (drop(pack, kind, shortKey(hexIn(name)))) recordRemoval(pack, kind, name);
}

export function noteUseAt(pack: PackState, kind: PackedKind, key: number, name: string): void {
  const known = pack.maps[kind].get(key);
  const usedAtS = nowS(pack);
  // The difference in both directions counts: a clock that was ahead may have left times in the
  // future.
  if (known === undefined || Math.abs(usedAtS - known.usedAtS) <= noteUseAfterS) return;
  pack.maps[kind].set(key, { ...known, usedAtS });
  recordUse(pack, kind, name, usedAtS);
}

export function nowS({ now }: Pick<PackState, "now">): number {
  return Math.round(now().getTime() / 1_000);
}

/** Names of blobs with another function than SHA-256 begin with the function's name. */
export function hexIn(name: string): string {
  return name.slice(name.indexOf("-") + 1);
}
