import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { Payload } from "./frame.ts";

/**
 * The two messages of ByteStream that carry blobs, encoded by hand.
 *
 * protobuf-es copies a message's bytes into one buffer; here, the blob's bytes
 * are sent from where they are.
 */
const dataField = 10;

/** A ReadResponse with this data. */
export function readResponse(data: Uint8Array): Payload {
  return [dataHeader(new BinaryWriter(), data), data];
}

/** A WriteRequest with this data. */
export function writeRequest(request: {
  /** Only the first of a stream needs it. */
  readonly resourceName: string;
  readonly writeOffset: number;
  readonly finishWrite: boolean;
  readonly data: Uint8Array;
}): Payload {
  const writer = new BinaryWriter();
  if (request.resourceName !== "")
    writer.tag(1, WireType.LengthDelimited).string(request.resourceName);
  if (request.writeOffset > 0) writer.tag(2, WireType.Varint).int64(request.writeOffset);
  if (request.finishWrite) writer.tag(3, WireType.Varint).bool(true);
  return [dataHeader(writer, request.data), request.data];
}

/** The data of an encoded ReadResponse: a view of its bytes, not a copy. */
export function dataOfReadResponse(message: Uint8Array): Uint8Array {
  const reader = new BinaryReader(message);
  let data: Uint8Array = new Uint8Array();
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === dataField && type === WireType.LengthDelimited) data = reader.bytes();
    else reader.skip(type, field);
  }
  return data;
}

function dataHeader(writer: BinaryWriter, data: Uint8Array): Uint8Array {
  return writer.tag(dataField, WireType.LengthDelimited).uint32(data.byteLength).finish();
}
