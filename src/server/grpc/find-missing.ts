import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage, toDigestMessage } from "#cas/digest-message.ts";
import { takingTurns } from "#cas/take-turns.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { decodeRequest, type Method, rawMethod } from "#grpc/method.ts";
import {
  ContentAddressableStorage,
  DigestFunction_Value,
  type Digest as DigestMessage,
  FindMissingBlobsRequestSchema,
  FindMissingBlobsResponseSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { projectOf } from "./project-of.ts";

const method = ContentAddressableStorage.method.findMissingBlobs;

/** Decoded, asked for and answered at once: more would hold up the event loop. */
const pieceBytes = 16_384;
const askedAtOnce = 256;

/**
 * FindMissingBlobs, piece by piece.
 *
 * A message of 4 MiB has some 60,000 digests: a tenth of a second to decode and as much to
 * encode, in which nobody else would be served.
 */
export function findMissing(blobs: BlobStore): Method {
  return rawMethod(method, async ({ requests, inTurn, send }) => {
    const bytes = await requests.only();
    await send(await inTurn(bytes.byteLength, () => answerTo(blobs, bytes)));
  });
}

async function answerTo(blobs: BlobStore, bytes: Uint8Array): Promise<Uint8Array[]> {
  const turn = takingTurns();
  const messages: DigestMessage[] = [];
  let instance = "";
  let by: DigestFunction_Value = DigestFunction_Value.UNKNOWN;
  for (const piece of piecesOf(bytes)) {
    await turn();
    // A piece of a message is a message; fields that come once are in one of them.
    const request = decodeRequest(method, FindMissingBlobsRequestSchema, piece);
    for (const digest of request.blobDigests) messages.push(digest);
    instance = request.instanceName || instance;
    by = request.digestFunction || by;
    // Shorter than any digest.
    if (messages.length * 16 > bytes.byteLength) throw tooSmall();
  }
  projectOf(instance);

  const asked = new Set<string>();
  const answer: Uint8Array[] = [];
  for (let at = 0; at < messages.length; at += askedAtOnce) {
    await turn();
    const digests: Digest[] = [];
    for (const message of messages.slice(at, at + askedAtOnce)) {
      const digest = fromDigestMessage(message, "a blob", by);
      const key = digestKey(digest);
      if (asked.has(key)) continue;
      asked.add(key);
      digests.push(digest);
    }
    const missing = await blobs.findMissing(digests);
    const missingBlobDigests = missing.map(toDigestMessage);
    answer.push(
      toBinary(
        FindMissingBlobsResponseSchema,
        create(FindMissingBlobsResponseSchema, { missingBlobDigests }),
      ),
    );
  }
  return answer;
}

/** Cuts a message between its fields. */
function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  const reader = new BinaryReader(bytes);
  let from = 0;
  try {
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      reader.skip(wireType, field);
      if (reader.pos - from < pieceBytes) continue;
      yield bytes.subarray(from, reader.pos);
      from = reader.pos;
    }
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw new Fault("internal", `the request is not what ${method.name} takes`, { cause });
  }
  if (from < bytes.byteLength) yield bytes.subarray(from);
}

function tooSmall(): Fault {
  return new Fault("invalid_argument", "the request is about digests that are none");
}
