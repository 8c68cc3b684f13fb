import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writevSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import {
  decodeHead,
  encodeHead,
  mostHeadBytes,
  type RecordHead,
  recordBytes,
} from "./pack-record.ts";

/** A record with where it lies. */
export interface PlacedRecord {
  readonly head: RecordHead;
  readonly segment: number;
  readonly at: number;
}

export interface SegmentSize {
  readonly segment: number;
  readonly bytes: number;
  /** The one that is written to. */
  readonly isHead: boolean;
}

/**
 * Records one after the other in a few large files, each written to until it is full and never changed again.
 *
 * A file for each small thing costs 0.6 ms of CPU to make, and waits for the file system's journal behind whoever syncs;
 * a record at the end of an open file costs 0.01. All of it is done at once, without the thread pool: handing the call
 * over costs more than the call.
 */
export interface PackSegments {
  /** Throws of a full disk, and has then written nothing. */
  append(head: RecordHead, body?: Uint8Array): { readonly segment: number; readonly at: number };
  /** A record's head and bytes; undefined where that many are not to be had. */
  read(segment: number, at: number, bytes: number): Buffer | undefined;
  sizes(): SegmentSize[];
  /** Of one segment, in order. */
  records(segment: number): PlacedRecord[];
  remove(segment: number): void;
  close(): void;
}

interface Segment {
  readonly file: number;
  bytes: number;
}

const suffix = ".pack";
const indexSuffix = ".heads";

/** Opens the segments of a directory, and tells of all their records, the oldest first. */
export async function openPackSegments(
  directory: string,
  segmentBytes: number,
  onRecord: (record: PlacedRecord) => void,
): Promise<PackSegments> {
  mkdirSync(directory, { recursive: true });
  const segments = new Map<number, Segment>();
  const numbers = readdirSync(directory)
    .filter((name) => name.endsWith(suffix))
    .map((name) => Number(name.slice(0, -suffix.length)))
    .filter((number) => Number.isSafeInteger(number) && number > 0)
    .sort((a, b) => a - b);
  for (const segment of numbers) {
    const file = openSync(pathOf(segment), "r");
    const opened = { file, bytes: fstatSync(file).size };
    segments.set(segment, opened);
    for (const record of recordsOf(segment, opened)) onRecord(record);
    await setImmediate();
  }
  let head: { readonly segment: number; heads: Buffer[] } | undefined;
  let last = numbers.at(-1) ?? 0;

  function pathOf(segment: number): string {
    return join(directory, `${String(segment).padStart(12, "0")}${suffix}`);
  }

  /** What an earlier process wrote last may end in half a record: nothing is put behind it, a new segment is begun. */
  function openHead(): { readonly segment: number; heads: Buffer[] } {
    const segment = ++last;
    segments.set(segment, { file: openSync(pathOf(segment), "wx+", 0o600), bytes: 0 });
    head = { segment, heads: [] };
    return head;
  }

  /** So that the next process need not look for each head in the file. Without it, it does. */
  function seal(): void {
    if (head === undefined) return;
    const { segment, heads } = head;
    head = undefined;
    const path = `${pathOf(segment)}${indexSuffix}`;
    try {
      writeFileSync(`${path}.new`, Buffer.concat(heads));
      renameSync(`${path}.new`, path);
    } catch {
      rmSync(`${path}.new`, { force: true });
    }
  }

  function recordsOf(segment: number, opened: Segment): PlacedRecord[] {
    return sealedRecords(segment, opened) ?? scannedRecords(segment, opened);
  }

  function sealedRecords(segment: number, { bytes }: Segment): PlacedRecord[] | undefined {
    let heads: Buffer;
    try {
      heads = readFileSync(`${pathOf(segment)}${indexSuffix}`);
    } catch {
      return undefined;
    }
    const found: PlacedRecord[] = [];
    let at = 0;
    for (let from = 0; from < heads.byteLength; ) {
      const one = decodeHead(heads, from);
      if (one === undefined) return undefined;
      found.push({ head: one, segment, at });
      at += recordBytes(one);
      from += recordBytes({ name: one.name, bodyBytes: 0 });
    }
    return at === bytes ? found : undefined;
  }

  function scannedRecords(segment: number, { file, bytes }: Segment): PlacedRecord[] {
    const found: PlacedRecord[] = [];
    const room = Buffer.alloc(mostHeadBytes);
    for (let at = 0; at < bytes; ) {
      const one = decodeHead(room.subarray(0, readSync(file, room, 0, room.byteLength, at)));
      if (one === undefined || at + recordBytes(one) > bytes) break;
      found.push({ head: one, segment, at });
      at += recordBytes(one);
    }
    return found;
  }

  return {
    append(record, body) {
      const current = head ?? openHead();
      const opened = segments.get(current.segment) as Segment;
      const bytes = encodeHead(record);
      const at = opened.bytes;
      try {
        writeAll(opened.file, body === undefined ? [bytes] : [bytes, body], at);
      } catch (reason) {
        cutBack(opened.file, at);
        throw reason;
      }
      opened.bytes += recordBytes(record);
      current.heads.push(bytes);
      if (opened.bytes >= segmentBytes) seal();
      return { segment: current.segment, at };
    },

    read(segment, at, bytes) {
      const opened = segments.get(segment);
      if (opened === undefined) return undefined;
      const room = Buffer.allocUnsafe(bytes);
      return readSync(opened.file, room, 0, bytes, at) === bytes ? room : undefined;
    },

    sizes: () =>
      [...segments].map(([segment, { bytes }]) => ({
        segment,
        bytes,
        isHead: segment === head?.segment,
      })),

    records(segment) {
      const opened = segments.get(segment);
      return opened === undefined ? [] : recordsOf(segment, opened);
    },

    remove(segment) {
      const opened = segments.get(segment);
      if (opened === undefined) return;
      if (head?.segment === segment) head = undefined;
      segments.delete(segment);
      closeSync(opened.file);
      rmSync(`${pathOf(segment)}${indexSuffix}`, { force: true });
      rmSync(pathOf(segment), { force: true });
    },

    close() {
      seal();
      for (const { file } of segments.values()) closeSync(file);
      segments.clear();
    },
  };
}

/** A full disk takes a part without an error, and complains at the next. */
function writeAll(file: number, parts: readonly Uint8Array[], at: number): void {
  const size = parts.reduce((sum, part) => sum + part.byteLength, 0);
  let written = writevSync(file, parts, at);
  if (written === size) return;
  const all = Buffer.concat(parts);
  while (written < size) written += writevSync(file, [all.subarray(written)], at + written);
}

/** Where even that fails, the next record is written over what is there. */
function cutBack(file: number, bytes: number): void {
  try {
    ftruncateSync(file, bytes);
  } catch {
    // Its size is known, and only what lies within is read.
  }
}
