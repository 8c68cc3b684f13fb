import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { BlobStore } from "#cas/blob-store.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { readResponse } from "#grpc/byte-stream-wire.ts";
import type { IncomingMessages } from "#grpc/incoming-messages.ts";
import { type Method, methodsOf, rawMethod, type ServerCall } from "#grpc/method.ts";
import {
  ByteStream,
  ReadRequestSchema,
  type WriteRequest,
  WriteRequestSchema,
  WriteResponseSchema,
} from "#proto/google/bytestream/bytestream_pb.ts";
import { parseReadName, parseWriteName } from "./resource-name.ts";

/** Large enough to be cheap, small enough that many readers fit in memory. */
const mostReadBytes = 1_048_576;

/**
 * ByteStream over blobs.
 *
 * Uploads are not kept by halves: a blob is here whole or not at all, so a broken
 * upload begins again at 0, which QueryWriteStatus says.
 */
export function byteStreamService(blobs: BlobStore): Method[] {
  return [
    rawMethod(ByteStream.method.read, (call) => read(blobs, call)),
    rawMethod(ByteStream.method.write, (call) => write(blobs, call)),
    ...methodsOf(ByteStream, {
      async queryWriteStatus({ resourceName }) {
        const { digest } = parseWriteName(resourceName);
        const complete = await isHere(blobs, digest);
        return { complete, committedSize: complete ? BigInt(digest.sizeBytes) : 0n };
      },
    }),
  ];
}

async function read(blobs: BlobStore, { requests, context, send }: ServerCall): Promise<void> {
  const request = fromBinary(ReadRequestSchema, await requests.only());
  const { digest } = parseReadName(request.resourceName);
  const offset = Number(request.readOffset);
  const limit = Number(request.readLimit);
  if (limit < 0) throw new Fault("invalid_argument", `a read limit of ${limit} is negative`);
  if (offset < 0 || offset > digest.sizeBytes) {
    throw new Fault("out_of_range", `offset ${offset} is outside ${digestKey(digest)}`);
  }
  const chunks = await blobs.read(digest, limit === 0 ? { offset } : { offset, limit });
  if (chunks === undefined) throw new Fault("not_found", `${digestKey(digest)} is not here`);
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength; at += mostReadBytes) {
      context.signal.throwIfAborted();
      await send(readResponse(chunk.subarray(at, at + mostReadBytes)));
    }
  }
}

async function write(blobs: BlobStore, { requests, send }: ServerCall): Promise<void> {
  const first = await nextWrite(requests);
  if (first === undefined) throw new Fault("invalid_argument", "the upload has no message");
  const { digest } = parseWriteName(first.resourceName);
  // Another client was faster: what the spec wants is an early end with the full size.
  if (!(await isHere(blobs, digest))) {
    const firstOffset = Number(first.writeOffset);
    if (firstOffset !== 0) {
      throw new Fault(
        "out_of_range",
        `the upload of ${digestKey(digest)} goes on at ${firstOffset}, but 0 bytes of it are here`,
      );
    }
    await blobs.write(digest, dataOf(requests, first));
  }
  const committedSize = BigInt(digest.sizeBytes);
  await send(toBinary(WriteResponseSchema, create(WriteResponseSchema, { committedSize })));
}

/** The bytes of an upload. Throws unless each message goes on where the last one ended, up to `finish_write`. */
async function* dataOf(
  requests: IncomingMessages,
  first: WriteRequest,
): AsyncGenerator<Uint8Array> {
  let offset = 0n;
  for (let now: WriteRequest = first; ; ) {
    if (now.resourceName !== "" && now.resourceName !== first.resourceName) {
      throw new Fault("invalid_argument", `the upload of ${first.resourceName} changes its name`);
    }
    if (now.writeOffset !== offset) {
      throw new Fault(
        "invalid_argument",
        `a message is for ${now.writeOffset}, but ${offset} is next`,
      );
    }
    offset += BigInt(now.data.byteLength);
    if (now.data.byteLength > 0) yield now.data;
    const next = await nextWrite(requests);
    if (next === undefined) {
      if (now.finishWrite) return;
      throw new Fault(
        "invalid_argument",
        `the upload of ${first.resourceName} ends before it is finished`,
      );
    }
    if (now.finishWrite) {
      throw new Fault(
        "invalid_argument",
        `the upload of ${first.resourceName} goes on after its finish`,
      );
    }
    now = next;
  }
}

async function nextWrite(requests: IncomingMessages): Promise<WriteRequest | undefined> {
  const message = await requests.next();
  return message && fromBinary(WriteRequestSchema, message);
}

async function isHere(blobs: BlobStore, digest: Digest): Promise<boolean> {
  return (await blobs.findMissing([digest])).length === 0;
}
