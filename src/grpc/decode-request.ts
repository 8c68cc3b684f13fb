import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageShape,
  mergeFromBinary,
} from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { assertFewParts, fewPartsInAll, skipField } from "#cas/message-parts.ts";
import { Fault } from "#core/fault.ts";
import { takingTurns } from "#scheduling/take-turns.ts";

/**
 * The most parts of a message. As many digests as fit into one message are far fewer; a message of that size could also
 * contain millions of empty parts, each of which becomes an object.
 */
const mostParts = 250_000;

/** The number of bytes decoded at once: some hundred digests, or the same number of an attacker's objects. */
const pieceBytes = 16_384;
const pieceFields = 512;

/** The fault for bytes that are not a valid request of the method. */
export class MalformedRequest extends Fault {}

type Named = Pick<DescMethod, "name">;

/** Throws `internal`, as all gRPC servers do, for bytes that are no such message. */
export function decodeRequest<S extends DescMessage>(
  method: Named,
  schema: S,
  bytes: Uint8Array,
): MessageShape<S> {
  try {
    assertFewParts(schema, bytes, mostParts);
    return fromBinary(schema, bytes);
  } catch (cause) {
    throw notTaken(method, cause);
  }
}

/** The same for a message that may be large; other work runs while it is counted and decoded. */
export async function decodeInTurns<S extends DescMessage>(
  method: Named,
  schema: S,
  bytes: Uint8Array,
  who?: string,
): Promise<MessageShape<S>> {
  if (bytes.byteLength <= pieceBytes) return decodeRequest(method, schema, bytes);
  const turn = takingTurns(undefined, who);
  const assertStillFew = fewPartsInAll(schema, mostParts);
  const message = create(schema);
  try {
    for (const piece of piecesOf(method, bytes)) {
      await turn();
      assertStillFew(piece);
    }
    for (const piece of piecesOf(method, bytes)) {
      await turn();
      // A piece of a message is a message, and protobuf says how two become one.
      mergeFromBinary(schema, message, piece);
    }
  } catch (cause) {
    throw notTaken(method, cause);
  }
  return message;
}

/** Decodes a piece of a request into what its earlier pieces became. */
export function mergeRequest<S extends DescMessage>(
  method: Named,
  schema: S,
  message: MessageShape<S>,
  piece: Uint8Array,
): void {
  try {
    assertFewParts(schema, piece, mostParts);
    mergeFromBinary(schema, message, piece);
  } catch (cause) {
    throw notTaken(method, cause);
  }
}

/** Cuts a message between its fields. Throws `internal` where it has none. */
export function* piecesOf(method: Named, bytes: Uint8Array): Generator<Uint8Array> {
  const reader = new BinaryReader(bytes);
  let from = 0;
  let fields = 0;
  while (reader.pos < reader.len) {
    try {
      skipField(reader);
    } catch (cause) {
      throw notTaken(method, cause);
    }
    fields++;
    if (reader.pos - from < pieceBytes && fields < pieceFields) continue;
    yield bytes.subarray(from, reader.pos);
    from = reader.pos;
    fields = 0;
  }
  if (from < bytes.byteLength) yield bytes.subarray(from);
}

function notTaken({ name }: Named, cause: unknown): MalformedRequest {
  if (cause instanceof Fault) return new MalformedRequest(cause.code, cause.message, { cause });
  return new MalformedRequest("internal", `the request is not a valid message for ${name} takes`, {
    cause,
  });
}
