import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { toDigestMessage } from "#cas/digest-message.ts";
import { takingTurns } from "#cas/take-turns.ts";
import { type Digest, functionOf } from "#core/digest.ts";
import {
  type Digest as DigestMessage,
  DigestSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import {
  CommitIndexSchema,
  type IndexEntry as EntryMessage,
  IndexEntrySchema,
  ResultKeySchema,
} from "#proto/grange/granary/v1/granary_pb.ts";
import { fewInputs } from "./few-inputs.ts";
import type { IndexDelta, IndexEntry } from "./index-entry.ts";
import { indexLimits } from "./index-limits.ts";

/** As a `CommitIndex` message. What an entry has beyond the limits is left out: an index is advice. */
export function encodeIndex(delta: IndexDelta): Uint8Array {
  return Buffer.concat([...piecesOf(delta)]);
}

/** The same, without holding up the process: 100,000 entries take a second. */
export async function encodeIndexInTurns(delta: IndexDelta, who?: string): Promise<Uint8Array> {
  const turn = takingTurns(undefined, who);
  const pieces: Uint8Array[] = [];
  for (const piece of piecesOf(delta)) {
    pieces.push(piece);
    await turn();
  }
  return Buffer.concat(pieces);
}

/** So many entries at a time: messages with one field of the whole, which are that message when they stand one after the other. */
const entriesOfPiece = 16;

function* piecesOf({ base, entries, removed }: IndexDelta): Generator<Uint8Array> {
  if (base !== undefined) yield pieceOf({ base: messageOfDigest(base) });
  for (let at = 0; at < entries.length; at += entriesOfPiece) {
    yield pieceOf({ entries: entries.slice(at, at + entriesOfPiece).map(messageOfEntry) });
  }
  for (let at = 0; at < removed.length; at += entriesOfPiece) {
    const keys = removed.slice(at, at + entriesOfPiece);
    yield pieceOf({
      removed: keys.map(({ namespace, key }) => create(ResultKeySchema, { namespace, key })),
    });
  }
}

function pieceOf(part: MessageInitShape<typeof CommitIndexSchema>): Uint8Array {
  return toBinary(CommitIndexSchema, create(CommitIndexSchema, part));
}

function messageOfEntry(entry: IndexEntry): EntryMessage {
  const { namespace, key, blobs, firstMs, savedMs, inputs } = entry;
  return create(IndexEntrySchema, {
    result: create(ResultKeySchema, { namespace, key }),
    blobs: blobs.slice(0, indexLimits.blobsOfEntry).map(messageOfDigest),
    firstMs: wholeMs(firstMs),
    ...(savedMs === undefined ? {} : { savedMs: wholeMs(savedMs) }),
    inputs: [...(fewInputs(inputs ?? []) ?? [])],
  });
}

/** An index has digests of several functions side by side. By its length alone BLAKE3 would be SHA-256. */
function messageOfDigest(digest: Digest): DigestMessage {
  return functionOf(digest) === "blake3"
    ? create(DigestSchema, { hash: digest.hash, sizeBytes: BigInt(digest.sizeBytes) })
    : toDigestMessage(digest);
}

/** As a uint32 takes it: 49 days at the most. */
function wholeMs(ms: number): number {
  return Math.min(0xffff_ffff, Math.max(0, Math.round(ms)));
}
