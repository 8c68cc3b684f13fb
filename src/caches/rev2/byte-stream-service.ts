import { create, toBinary } from "@bufbuild/protobuf";
import type { BlobStore } from "#cas/blob-store.ts";
import { isWhole } from "#cas/byte-span.ts";
import { notSoFar } from "#cas/upload-store.ts";
import { unzstd, zstd } from "#cas/zstd/zstd-streams.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { FairGate } from "#core/fair-gate.ts";
import { Fault } from "#core/fault.ts";
import { readResponse } from "#grpc/byte-stream-wire.ts";
import { decodeRequest } from "#grpc/decode-request.ts";
import { type Method, methodsOf, rawMethod, type ServerCall } from "#grpc/method.ts";
import {
  ByteStream,
  type ReadRequest,
  ReadRequestSchema,
  WriteResponseSchema,
} from "#proto/google/bytestream/bytestream_pb.ts";
import type { BlobsFor, RequireMayWrite, UploadsFor } from "./blobs-for.ts";
import { committedSizeFor, resumesByBlobOffset } from "./byte-stream-committed-size.ts";
import { receiveUpload } from "./byte-stream-upload.ts";
import { type LogStreamName, parseLogStreamName } from "./log-stream-name.ts";
import { projectOf } from "./project-of.ts";
import { requestMetadataIn } from "./request-metadata.ts";
import { parseReadName, parseWriteName } from "./resource-name.ts";

/** Large enough for low overhead, small enough for many readers in memory. */
const mostReadBytes = 1_048_576;

/** Blobs of up to this size are read, and stored if they come in one message, without a stream. */
const smallBytes = 64 * 1024;

/** Serves the output of an execution; `message` is the request as received. */
export type ReadLog = (
  name: LogStreamName,
  request: ReadRequest,
  call: ServerCall,
  message: Uint8Array,
) => Promise<void>;

/**
 * The limit for uploads whose right and blob are looked up at the same time. Each lookup takes a few steps on the disk,
 * and those of a thousand uploads that begin at once would be queued before those of all other callers.
 */
const lookupsAtOnce = 8;

/**
 * ByteStream over blobs, plain and packed, and over logs if there are any.
 *
 * Where the API allows a choice, offsets count bytes of the blob. The received part of a broken upload is kept, and
 * QueryWriteStatus reports its size.
 */
export function byteStreamService(
  blobsFor: BlobsFor,
  uploadsFor: UploadsFor,
  readLog?: ReadLog,
  requireMayWrite: RequireMayWrite = async () => {},
): Method[] {
  const lookups = new FairGate(lookupsAtOnce);
  return [
    rawMethod(ByteStream.method.read, async (call) => {
      const message = await call.requests.only();
      const request = decodeRequest(ByteStream.method.read, ReadRequestSchema, message);
      const log = readLog && parseLogStreamName(request.resourceName);
      if (log === undefined) return read(blobsFor, request, call);
      return readLog?.(log, request, call, message);
    }),
    rawMethod(ByteStream.method.write, (call) =>
      write({ blobsFor, uploadsFor, requireMayWrite, lookups }, call),
    ),
    ...methodsOf(ByteStream, {
      async queryWriteStatus({ resourceName }, context) {
        const { instanceName, digest, packing } = parseWriteName(resourceName);
        const project = projectOf(instanceName);
        const blobs = blobsFor(project, context);
        if ((await isStored(blobs, digest)) && (await isReadable(blobs, digest))) {
          return { complete: true, committedSize: BigInt(digest.sizeBytes) };
        }
        const committed = resumesByBlobOffset(
          packing,
          requestMetadataIn(context.metadata)?.toolDetails,
        )
          ? await uploadsFor(project, context).committed(resourceName)
          : 0;
        return { complete: false, committedSize: BigInt(committed) };
      },
    }),
  ];
}

async function read(
  blobsFor: BlobsFor,
  request: ReadRequest,
  { context, send }: ServerCall,
): Promise<void> {
  const { instanceName, digest, packing } = parseReadName(request.resourceName);
  const offset = Number(request.readOffset);
  const limit = Number(request.readLimit);
  if (limit < 0) throw new Fault("invalid_argument", `a read limit of ${limit} is negative`);
  if (limit > 0 && packing === "zstd") {
    throw new Fault("invalid_argument", "a packed blob is read to its end; the limit must be 0");
  }
  if (offset < 0 || offset > digest.sizeBytes) {
    throw new Fault("out_of_range", `offset ${offset} is outside ${digestKey(digest)}`);
  }
  // Bytes beyond the end are not requested: a limit may be any number.
  const least = Math.min(limit, digest.sizeBytes - offset);
  const range = least === 0 ? { offset } : { offset, limit: least };
  const blobs = blobsFor(projectOf(instanceName), context);
  if (packing === "plain" && digest.sizeBytes <= smallBytes && isWhole(digest, range)) {
    const bytes = await blobs.get(digest);
    if (bytes === undefined) throw notFound(digest);
    context.signal.throwIfAborted();
    if (bytes.byteLength > 0) await send(readResponse(bytes));
    return;
  }
  const chunks = await blobs.read(digest, range);
  if (chunks === undefined) throw notFound(digest);
  for await (const chunk of packing === "zstd" ? zstd(chunks) : chunks) {
    for (let at = 0; at < chunk.byteLength; at += mostReadBytes) {
      context.signal.throwIfAborted();
      await send(readResponse(chunk.subarray(at, at + mostReadBytes)));
    }
  }
}

function notFound(digest: Digest): Fault {
  return new Fault("not_found", `${digestKey(digest)} is not in the store`);
}

interface WriteParts {
  readonly blobsFor: BlobsFor;
  readonly uploadsFor: UploadsFor;
  readonly requireMayWrite: RequireMayWrite;
  /** Admits lookups in turns of the connections. */
  readonly lookups: FairGate;
}

async function write(
  { blobsFor, uploadsFor, requireMayWrite, lookups }: WriteParts,
  { requests, context, send }: ServerCall,
): Promise<void> {
  const upload = await receiveUpload(requests);
  const { instanceName, digest, packing } = parseWriteName(upload.resourceName);
  const project = projectOf(instanceName);
  const lookUp = async () => {
    await requireMayWrite(project, context);
    return isStored(blobsFor(project, context), digest);
  };
  // Reading a large blob takes long, so it is not a part of the lookup: it would make all other uploads wait.
  const wasHere =
    (await lookups.through(context.peer, lookUp, context.signal)) &&
    (await isReadable(blobsFor(project, context), digest));
  // For a plain upload all clients get the same answer.
  const tool = packing === "plain" ? undefined : requestMetadataIn(context.metadata)?.toolDetails;
  const told = committedSizeFor(packing, tool, wasHere);
  if (!wasHere && packing === "plain" && (upload.wholeBytes ?? Infinity) <= smallBytes) {
    // It cannot be interrupted any more, so it needs no file that another call may continue.
    let bytes: Uint8Array = new Uint8Array();
    for await (const chunk of upload.data) bytes = chunk;
    await blobsFor(project, context).put(digest, bytes);
  } else if (!wasHere) {
    const { firstOffset: offset, resourceName: name, data } = upload;
    if (offset > 0 && !resumesByBlobOffset(packing, tool)) throw notSoFar(digest, offset, 0);
    const chunks =
      packing === "zstd" ? unzstd(data, digest.sizeBytes - offset, context.peer) : data;
    const interrupt = () =>
      requests.fail(new Fault("aborted", "another call continues this upload"));
    await uploadsFor(project, context).receive({ name, digest, offset, chunks, interrupt });
  } else if (told === "received") {
    for await (const _ of upload.data);
  }
  const sizes = { blob: digest.sizeBytes, received: upload.offset, "minus one": -1 };
  const committedSize = BigInt(sizes[told]);
  await send(toBinary(WriteResponseSchema, create(WriteResponseSchema, { committedSize })));
}

const unreadable: readonly string[] = ["data_loss", "not_found", "permission_denied"];

async function isStored(blobs: BlobStore, digest: Digest): Promise<boolean> {
  return (await blobs.findMissing([digest])).length === 0;
}

/**
 * Returns whether a stored blob has the right bytes. They are read, because a client may upload an existing blob
 * when the copy here is corrupt, and reading costs less than receiving. A client that may only upload sends its bytes
 * again: otherwise it would learn whether a blob exists.
 */
async function isReadable(blobs: BlobStore, digest: Digest): Promise<boolean> {
  try {
    const chunks = await blobs.read(digest);
    if (chunks === undefined) return false;
    for await (const _ of chunks);
    return true;
  } catch (reason) {
    const isLost = reason instanceof Fault && unreadable.includes(reason.code);
    if (!isLost) throw reason;
    return false;
  }
}
