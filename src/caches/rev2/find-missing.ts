import { type Digest, firstOccurrences } from "#core/digest.ts";
import type { CallContext } from "#grpc/call-context.ts";
import { piecesOf } from "#grpc/decode-request.ts";
import { type Method, rawMethod } from "#grpc/method.ts";
import { ContentAddressableStorage } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { takingTurns } from "#scheduling/take-turns.ts";
import type { BlobsFor } from "./blobs-for.ts";
import { findMissingRequest } from "./decode-find-missing.ts";
import { encodeMissing } from "./encode-missing.ts";
import { projectOf } from "./project-of.ts";

const method = ContentAddressableStorage.method.findMissingBlobs;

/** Decoded in one step: more would block the event loop. */
const decodedAtOnce = 32;
/** For stores that check each blob by itself, such as a disk: more would leave no file calls for other clients. */
const defaultCheckedAtOnce = 32;

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
  const request = findMissingRequest();
  for (const piece of piecesOf(method, bytes)) {
    await turn();
    request.add(piece);
  }
  const blobs = blobsFor(projectOf(request.instanceName), context);

  const isFirst = firstOccurrences();
  const answer: Uint8Array[] = [];
  let unchecked: Digest[] = [];
  for (let n = 0; n < request.length; n++) {
    if (n % decodedAtOnce === 0) await turn();
    const digest = request.digest(n);
    if (isFirst(digest)) unchecked.push(digest);
    const isLast = n + 1 === request.length;
    if (!isLast && unchecked.length < checkedAtOnce) continue;
    const missing = await blobs.findMissing(unchecked);
    unchecked = [];
    if (missing.length > 0) answer.push(encodeMissing(missing));
  }
  return answer;
}
