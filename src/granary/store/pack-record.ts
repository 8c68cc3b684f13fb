import { crc32 } from "node:zlib";

/**
 * `gone`: the name has no content any more. `used`: the name was read; its content did not change.
 */
export type PackedKind = "result" | "blob";
export type RecordKind = PackedKind | "result-gone" | "blob-gone" | "result-used" | "blob-used";

const kinds: readonly RecordKind[] = [
  "result",
  "blob",
  "result-gone",
  "blob-gone",
  "result-used",
  "blob-used",
];

/** The head before a record's bytes. */
export interface RecordHead {
  readonly kind: RecordKind;
  /** The hash of a result's name, or the hash of a blob. */
  readonly name: string;
  readonly bodyBytes: number;
  /** Seconds since 1970. */
  readonly usedAtS: number;
}

/** "GPK1". */
const magic = 0x47504b31;
const fixedBytes = 20;
const longestName = 255;
export const mostHeadBytes = fixedBytes + longestName;

/** Returns the distance from the start of a record to the start of its bytes. */
export function headBytes({ name }: Pick<RecordHead, "name">): number {
  return fixedBytes + name.length;
}

export function recordBytes(head: Pick<RecordHead, "name" | "bodyBytes">): number {
  return headBytes(head) + head.bodyBytes;
}

/**
 * A record's head: a magic number, its kind, the lengths of its name and of its bytes, when it was used, a checksum of
 * all that, and the name. The bytes have no checksum here, because results and blobs contain their own hashes.
 */
export function encodeHead({ kind, name, bodyBytes, usedAtS }: RecordHead): Buffer {
  const head = Buffer.alloc(fixedBytes + name.length);
  head.writeUInt32LE(magic, 0);
  head.writeUInt8(kinds.indexOf(kind), 4);
  head.writeUInt8(name.length, 5);
  head.writeUInt32LE(bodyBytes, 8);
  head.writeUInt32LE(usedAtS >>> 0, 12);
  head.write(name, fixedBytes, "latin1");
  head.writeUInt32LE(checksumOf(head), 16);
  return head;
}

/**
 * Returns undefined for an invalid head, truncated by a crash or corrupt. The records after it cannot be found then.
 */
export function decodeHead(bytes: Buffer, at = 0): RecordHead | undefined {
  if (bytes.byteLength - at < fixedBytes || bytes.readUInt32LE(at) !== magic) return undefined;
  const kind = kinds[bytes.readUInt8(at + 4)];
  const end = at + fixedBytes + bytes.readUInt8(at + 5);
  if (kind === undefined || bytes.byteLength < end) return undefined;
  const head = bytes.subarray(at, end);
  if (head.readUInt32LE(16) !== checksumOf(head)) return undefined;
  return {
    kind,
    name: head.toString("latin1", fixedBytes),
    bodyBytes: head.readUInt32LE(8),
    usedAtS: head.readUInt32LE(12),
  };
}

function checksumOf(head: Buffer): number {
  return crc32(head.subarray(fixedBytes), crc32(head.subarray(0, 16)));
}
