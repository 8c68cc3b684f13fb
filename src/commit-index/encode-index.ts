import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { type Digest, functionOf, hexOf } from "#core/digest.ts";
import { DigestSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import {
  CommitIndexSchema,
  IndexEntrySchema,
  ResultKeySchema,
} from "#proto/grange/granary/v1/granary_pb.ts";
import { takingTurns } from "#scheduling/take-turns.ts";
import { fewInputs } from "./few-inputs.ts";
import type { IndexDelta, IndexEntry } from "./index-entry.ts";
import { indexLimits } from "./index-limits.ts";
import type { ResultKey } from "./result-key.ts";

/** Returns a delta as a `CommitIndex` message. Parts of entries above the limits are left out: an index is advice. */
export function encodeIndex(delta: IndexDelta): Uint8Array {
  return Buffer.concat([...piecesOf(delta)]);
}

/** The same without blocking the process: 100,000 entries take a second. */
export async function encodeIndexInTurns(delta: IndexDelta, who?: string): Promise<Uint8Array> {
  const turn = takingTurns(undefined, who);
  const pieces: Uint8Array[] = [];
  for (const piece of piecesOf(delta)) {
    pieces.push(piece);
    await turn();
  }
  return Buffer.concat(pieces);
}

/**
 * The number of entries in a piece. Each piece is a message with one field of the whole; their concatenation is the
 * whole message.
 */
const entriesOfPiece = 64;

const { base: baseField, entries: entriesField, removed: removedField } = CommitIndexSchema.field;
const { namespace: namespaceField, key: keyField } = ResultKeySchema.field;
const { hash: hashField, sizeBytes: sizeField } = DigestSchema.field;
const entryField = IndexEntrySchema.field;

/**
 * Encodes field by field instead of through message objects, which took twice as long
 * (docs/decisions/0037-granary-overhead.md).
 */
function* piecesOf({ base, entries, removed }: IndexDelta): Generator<Uint8Array> {
  if (base !== undefined) {
    const to = new BinaryWriter();
    writeDigest(to, baseField.number, base);
    yield to.finish();
  }
  for (let at = 0; at < entries.length; at += entriesOfPiece) {
    const to = new BinaryWriter();
    for (const entry of entries.slice(at, at + entriesOfPiece)) writeEntry(to, entry);
    yield to.finish();
  }
  for (let at = 0; at < removed.length; at += entriesOfPiece) {
    const to = new BinaryWriter();
    for (const key of removed.slice(at, at + entriesOfPiece)) {
      writeKey(to, removedField.number, key);
    }
    yield to.finish();
  }
}

function writeEntry(to: BinaryWriter, entry: IndexEntry): void {
  const { blobs, savedMs, inputs } = entry;
  to.tag(entriesField.number, WireType.LengthDelimited).fork();
  writeKey(to, entryField.result.number, entry);
  for (const blob of blobs.slice(0, indexLimits.blobsOfEntry)) {
    writeDigest(to, entryField.blobs.number, blob);
  }
  const firstMs = wholeMs(entry.firstMs);
  if (firstMs > 0) to.tag(entryField.firstMs.number, WireType.Varint).uint32(firstMs);
  if (savedMs !== undefined) {
    to.tag(entryField.savedMs.number, WireType.Varint).uint32(wholeMs(savedMs));
  }
  for (const path of fewInputs(inputs ?? []) ?? []) {
    to.tag(entryField.inputs.number, WireType.LengthDelimited).string(path);
  }
  to.join();
}

function writeKey(to: BinaryWriter, field: number, { namespace, key }: ResultKey): void {
  to.tag(field, WireType.LengthDelimited).fork();
  to.tag(namespaceField.number, WireType.LengthDelimited).string(namespace);
  to.tag(keyField.number, WireType.LengthDelimited).string(key);
  to.join();
}

/**
 * An index may contain digests of several functions. By its length alone, BLAKE3 would be read as SHA-256: see
 * `toLoneDigest`.
 */
function writeDigest(to: BinaryWriter, field: number, digest: Digest): void {
  const hash = functionOf(digest) === "blake3" ? digest.hash : hexOf(digest);
  to.tag(field, WireType.LengthDelimited).fork();
  to.tag(hashField.number, WireType.LengthDelimited).string(hash);
  if (digest.sizeBytes > 0) to.tag(sizeField.number, WireType.Varint).int64(digest.sizeBytes);
  to.join();
}

/** Limits a duration to a uint32: 49 days at most. */
function wholeMs(ms: number): number {
  return Math.min(0xffff_ffff, Math.max(0, Math.round(ms)));
}
