import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { zstdFrame } from "#cas/zstd/zstd-frame.ts";
import type { Payload } from "#grpc/frame.ts";
import type { Digest as DigestMessage } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import {
  BlobPartSchema,
  FetchedItemSchema,
  FetchedSchema,
  type FetchItem,
  FetchResponseSchema,
  type StoredResult,
} from "#proto/grange/granary/v1/granary_pb.ts";

/** A requested item that is being sent to the client. */
export type FetchedThing =
  | { readonly kind: "result"; readonly result: StoredResult }
  | {
      readonly kind: "part";
      readonly digest: DigestMessage;
      readonly offset: number;
      readonly data: Uint8Array;
    }
  | { readonly kind: "absent"; readonly item: FetchItem };

const { items } = FetchedSchema.field;
const { blob } = FetchedItemSchema.field;
const { data: dataField } = BlobPartSchema.field;
const { packed, unpackedBytes } = FetchResponseSchema.field;

/**
 * Encodes Fetched messages with these items, concatenated.
 *
 * Blobs are encoded by hand, because protobuf-es would copy their bytes three times before they are packed.
 */
export function encodeFetched(things: readonly FetchedThing[]): Buffer {
  return Buffer.concat(things.flatMap((thing) => itemOf(thing)));
}

/** The fields of a FetchResponse. */
export interface PackedThings {
  readonly packed: Uint8Array;
  readonly unpackedBytes: number;
}

/** As a part of a larger message. */
export async function packedThings(things: readonly FetchedThing[]): Promise<PackedThings> {
  const fetched = encodeFetched(things);
  return { packed: await zstdFrame(fetched), unpackedBytes: fetched.byteLength };
}

/** Returns the payload of one FetchResponse. */
export async function packedResponse(fetched: Uint8Array): Promise<Payload> {
  const frame = await zstdFrame(fetched);
  const head = new BinaryWriter()
    .tag(unpackedBytes.number, WireType.Varint)
    .uint32(fetched.byteLength)
    .tag(packed.number, WireType.LengthDelimited)
    .uint32(frame.byteLength)
    .finish();
  return [head, frame];
}

/** A field of Fetched with one item. Fields of one message may be split over several concatenated messages. */
function itemOf(thing: FetchedThing): Uint8Array[] {
  if (thing.kind !== "part") {
    const item = create(FetchedItemSchema, {
      item:
        thing.kind === "result"
          ? { case: "result", value: thing.result }
          : { case: "absent", value: thing.item },
    });
    return lengthDelimited(items.number, [toBinary(FetchedItemSchema, item)]);
  }
  const { digest, offset, data } = thing;
  const head = toBinary(BlobPartSchema, create(BlobPartSchema, { digest, offset: BigInt(offset) }));
  const part =
    data.byteLength === 0 ? [head] : [head, ...lengthDelimited(dataField.number, [data])];
  return lengthDelimited(items.number, lengthDelimited(blob.number, part));
}

function lengthDelimited(field: number, content: readonly Uint8Array[]): Uint8Array[] {
  const length = content.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const head = new BinaryWriter().tag(field, WireType.LengthDelimited).uint32(length).finish();
  return [head, ...content];
}
