import { fromDigestMessage } from "#cas/digest-message.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import type { CallContext } from "#grpc/call-context.ts";
import { decodeRequest, piecesOf } from "#grpc/decode-request.ts";
import { type Method, rawMethod } from "#grpc/method.ts";
import {
  ContentAddressableStorage,
  DigestFunction_Value,
  type Digest as DigestMessage,
  FindMissingBlobsRequestSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { takingTurns } from "#scheduling/take-turns.ts";
import type { BlobsFor } from "./blobs-for.ts";
import { encodeMissing } from "./encode-missing.ts";
import { projectOf } from "./project-of.ts";

const method = ContentAddressableStorage.method.findMissingBlobs;

/** Decoded in one step: more would block the event loop. */
const decodedAtOnce = 32;
/** For stores that check each blob by itself, such as a disk: more would leave no file calls for other clients. */
const defaultCheckedAtOnce = 32;
/** The length of MD5, the shortest hash. */
const leastHashLength = 32;

/**
 * FindMissingBlobs, piece by piece.
 *
 * A message of 4 MiB has some 60,000 digests: decoding and encoding take a tenth of a second each, during which no
 * other client would be served.
 *
 * @param checkedAtOnce How many digests the store gets at once. A store that queries a database needs a round trip for
 * each part.
 */
export function findMissing(
  blobsFor: BlobsFor,
  checkedAtOnce: number = defaultCheckedAtOnce,
): Method {
  return rawMethod(method, async ({ requests, context, inTurn, send }) => {
    const bytes = await requests.only();
    const answer = () => answerTo(blobsFor, bytes, context, checkedAtOnce);
    await send(await inTurn(bytes.byteLength, answer));
  });
}

async function answerTo(
  blobsFor: BlobsFor,
  bytes: Uint8Array,
  context: CallContext,
  checkedAtOnce: number,
): Promise<Uint8Array[]> {
  const turn = takingTurns(undefined, context.peer);
  const messages: DigestMessage[] = [];
  let instance = "";
  let by: DigestFunction_Value = DigestFunction_Value.UNKNOWN;
  for (const piece of piecesOf(method, bytes)) {
    await turn();
    // Each piece of a message is itself a message; a non-repeated field is in one of the pieces.
    const request = decodeRequest(method, FindMissingBlobsRequestSchema, piece);
    for (const digest of request.blobDigests) {
      // An invalid hash is refused before a million more are decoded.
      if (digest.hash.length < leastHashLength) fromDigestMessage(digest, "a blob");
      messages.push(digest);
    }
    instance = request.instanceName || instance;
    by = request.digestFunction || by;
  }
  const blobs = blobsFor(projectOf(instance), context);

  const asked = new Set<string>();
  const answer: Uint8Array[] = [];
  let unchecked: Digest[] = [];
  for (let at = 0; at < messages.length; at += decodedAtOnce) {
    await turn();
    for (const message of messages.slice(at, at + decodedAtOnce)) {
      const digest = fromDigestMessage(message, "a blob", by);
      const key = digestKey(digest);
      if (asked.has(key)) continue;
      asked.add(key);
      unchecked.push(digest);
    }
    const isLast = at + decodedAtOnce >= messages.length;
    if (!isLast && unchecked.length < checkedAtOnce) continue;
    const missing = await blobs.findMissing(unchecked);
    unchecked = [];
    if (missing.length > 0) answer.push(encodeMissing(missing));
  }
  return answer;
}
