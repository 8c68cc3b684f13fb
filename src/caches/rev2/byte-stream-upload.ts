import { Fault } from "#core/fault.ts";
import { decodeInTurns } from "#grpc/decode-request.ts";
import type { IncomingMessages } from "#grpc/incoming-messages.ts";
import {
  ByteStream,
  type WriteRequest,
  WriteRequestSchema,
} from "#proto/google/bytestream/bytestream_pb.ts";

/** The messages of an upload, as one stream of bytes. */
interface IncomingUpload {
  readonly resourceName: string;
  /** Where the client continues. */
  readonly firstOffset: number;
  /** The number of bytes of the first message, if that message is the whole upload. */
  readonly wholeBytes: number | undefined;
  /** Where the next message must begin: the number of sent bytes, including those of earlier calls. */
  offset: number;
  /** Throws unless each message begins where the last one ended, up to `finish_write`. */
  readonly data: AsyncGenerator<Uint8Array, void, undefined>;
}

/**
 * An upload is looked up, and gets a file, when it has this many bytes, its second message or its end. Otherwise a
 * thousand uploads that stop after a short first message would each cost lookups in the database and a new file.
 */
const beginsWithBytes = 64 * 1024;

export async function receiveUpload(requests: IncomingMessages): Promise<IncomingUpload> {
  await requests.gathered(beginsWithBytes);
  const first = await nextWrite(requests);
  if (first === undefined) throw new Fault("invalid_argument", "the upload has no message");
  const firstOffset = Number(first.writeOffset);
  if (!Number.isSafeInteger(firstOffset) || firstOffset < 0) {
    throw new Fault("out_of_range", `an upload cannot continue at ${first.writeOffset}`);
  }
  const { resourceName, finishWrite, data } = first;
  const wholeBytes = finishWrite && firstOffset === 0 ? data.byteLength : undefined;
  const upload = { resourceName, firstOffset, wholeBytes, offset: firstOffset };
  return Object.assign(upload, { data: dataOf(requests, first, upload) });
}

async function* dataOf(
  requests: IncomingMessages,
  first: WriteRequest,
  upload: { offset: number },
): AsyncGenerator<Uint8Array, void, undefined> {
  for (let now: WriteRequest = first; ; ) {
    if (now.resourceName !== "" && now.resourceName !== first.resourceName) {
      throw new Fault("invalid_argument", `the upload of ${first.resourceName} changes its name`);
    }
    if (now.writeOffset !== BigInt(upload.offset)) {
      throw new Fault(
        "invalid_argument",
        `a message is for ${now.writeOffset}, but ${upload.offset} is next`,
      );
    }
    upload.offset += now.data.byteLength;
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
        `the upload of ${first.resourceName} continues after its end`,
      );
    }
    now = next;
  }
}

async function nextWrite(requests: IncomingMessages): Promise<WriteRequest | undefined> {
  // A client that has started an upload sends its bytes without delay.
  const message = await requests.soon();
  return message && decodeInTurns(ByteStream.method.write, WriteRequestSchema, message);
}
