import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  haveFastCdcSizes,
  mostChunksOf,
  whyNotTogether,
} from "#caches/chunk-lists/chunk-limits.ts";
import { judgeS3Answer } from "#cas/bucket/judge-s3-answer.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { parseTraceparent, traceparentOf } from "#core/span-place.ts";
import { readRequests } from "#go-cache/read-requests.ts";
import { FrameCutter, framed } from "#grpc/frame.ts";
import { MessageSegments } from "#grpc/message-segments.ts";
import { SpliceBlobRequestSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { BrokenLaw, type FuzzTarget } from "./fuzz.ts";
import { jsonWords } from "./importer-targets.ts";

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();

/** How bytes of blobs travel: over gRPC, in chunks, from Go and from buckets. */
export function transferTargets(): FuzzTarget[] {
  return [frameTarget(), spliceTarget(), goTarget(), bucketTarget(), traceTarget()];
}

function frameTarget(): FuzzTarget {
  const frames = (...lengths: number[]) =>
    Buffer.concat(lengths.flatMap((length) => framed(Buffer.alloc(length, length))));
  // Small, so that messages of the inputs have several segments.
  const segments = new MessageSegments(32);
  const mostBytes = 2_000;
  return {
    name: "messages of gRPC in chunks",
    // Byte by byte, an input takes half a millisecond.
    isSlow: true,
    seeds: [frames(0, 1, 5), frames(200, 33), frames(1_000), Buffer.of(1, 0, 0, 0, 2, 7, 7)],
    words: [frames(0), Buffer.of(0, 0, 0, 0, 40), Buffer.of(1, 0, 0, 3, 0), Buffer.of(0xff)],
    read(bytes) {
      const whole = cut(new FrameCutter(mostBytes, segments), bytes, bytes.byteLength);
      const inPieces = [1, 7, 100].map((size) =>
        cut(new FrameCutter(mostBytes, segments), bytes, size),
      );
      if (inPieces.some((each) => each !== whole))
        throw new BrokenLaw("in pieces these are other messages");
      return whole.split("\n");
    },
  };
}

/** Returns the messages, and how they ended, as text. */
function cut(cutter: FrameCutter, bytes: Uint8Array, size: number): string {
  const messages = messagesIn(cutter, bytes, size);
  cutter.drop();
  if (cutter.heldBytes !== 0) throw new BrokenLaw("dropped bytes are still held");
  return messages;
}

function messagesIn(cutter: FrameCutter, bytes: Uint8Array, size: number): string {
  const found: string[] = [];
  try {
    for (let at = 0; at < bytes.byteLength; at += size) {
      for (const frame of cutter.push(bytes.subarray(at, at + size)))
        found.push(`${frame.compressed} ${Buffer.from(frame.bytes).toString("hex")}`);
    }
  } catch {
    // The messages of one chunk before a malformed one are lost, so only the refusal can be compared.
    return "refused";
  }
  return [...found, `between: ${cutter.isBetweenMessages()}`].join("\n");
}

function spliceTarget(): FuzzTarget {
  const digest = (sizeBytes: number) => ({
    hash: "ab".repeat(32),
    sizeBytes: BigInt(sizeBytes),
  });
  const request = (whole: number, ...parts: number[]) =>
    toBinary(
      SpliceBlobRequestSchema,
      create(SpliceBlobRequestSchema, {
        blobDigest: digest(whole),
        chunkDigests: parts.map(digest),
      }),
    );
  return {
    name: "lists of the chunks of a blob",
    seeds: [
      request(1_048_576, 524_288, 524_288),
      request(3, 1, 2),
      request(0),
      request(5_000_000, 2_000_000, 2_000_000, 1_000_000),
    ],
    words: [request(1, 1), "ab".repeat(32)],
    // The library refuses by errors of its own.
    refusals: [Error],
    read(bytes) {
      const message = fromBinary(SpliceBlobRequestSchema, bytes);
      const blob = fromDigestMessage(message.blobDigest, "the blob", message.digestFunction);
      const chunks = message.chunkDigests.map((each) =>
        fromDigestMessage(each, "a chunk", message.digestFunction),
      );
      const why = whyNotTogether(blob, chunks);
      const bytesOfChunks = chunks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      if (why === undefined && bytesOfChunks !== blob.sizeBytes)
        throw new BrokenLaw("the chunks have another size than the blob");
      if (why === undefined && chunks.length > mostChunksOf(blob))
        throw new BrokenLaw("the list is longer than an answer");
      return [why === undefined, haveFastCdcSizes(chunks), chunks.length];
    },
  };
}

function goTarget(): FuzzTarget {
  const id = Buffer.alloc(32, 7).toString("base64");
  const put = JSON.stringify({
    ID: 2,
    Command: "put",
    ActionID: id,
    OutputID: id,
    BodySize: 6,
  });
  return {
    name: "requests of the go command",
    isSlow: true,
    seeds: [
      `{"ID":1,"Command":"get","ActionID":"${id}"}\n\n{"ID":3,"Command":"close"}\n`,
      `${put}\n"Z3Jhbmdl"\n\n{"ID":3,"Command":"close"}\n`,
    ],
    words: [...jsonWords, "\n", '"BodySize":', '"ID":', '"Z3Jh"\n', "=", "-1"],
    async read(bytes) {
      const whole = await requestsIn([bytes]);
      const inPieces = await requestsIn([...bytes].map((byte) => Uint8Array.of(byte)));
      if (JSON.stringify(whole) !== JSON.stringify(inPieces))
        throw new BrokenLaw("byte by byte these are other requests");
      if (whole.fault !== undefined) throw whole.fault;
      return whole.requests;
    },
  };
}

/** Returns the requests with their bodies up to the one that is refused. */
async function requestsIn(chunks: readonly Uint8Array[]) {
  const requests: unknown[] = [];
  try {
    for await (const { request, body } of readRequests(oneByOne(chunks))) {
      const parts: Uint8Array[] = [];
      for await (const part of body) parts.push(part);
      requests.push({ request, body: Buffer.concat(parts).toString("hex") });
    }
  } catch (fault) {
    return { requests, fault };
  }
  return { requests, fault: undefined };
}

async function* oneByOne(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

function bucketTarget(): FuzzTarget {
  const error = (code: string, message: string) =>
    `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  return {
    name: "answers of a bucket",
    seeds: [
      error("NoSuchKey", "The key does not exist."),
      error("SlowDown", "&lt;wait&gt; &amp;#34;"),
      "<CompleteMultipartUploadResult><ETag>&quot;a&quot;</ETag></CompleteMultipartUploadResult>",
    ],
    words: ["<Error>", "<Code>", "</Code>", "NoSuchBucket", "&amp;", "<Message>", "\u0000"],
    read(bytes) {
      const of = (status: number) =>
        judgeS3Answer("POST", {
          status,
          headers: { "content-type": "application/xml" },
          body: Buffer.from(bytes),
        });
      if ([300, 403, 404, 500].some((status) => of(status).kind === "ok"))
        throw new BrokenLaw("an error counts as success");
      // As keys, because outcomes are told apart by the shapes of results.
      return Object.fromEntries(
        [200, 400, 404].map((status) => [`${status} ${of(status).kind}`, 0]),
      );
    },
  };
}

function traceTarget(): FuzzTarget {
  const place = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
  return {
    name: "the header traceparent",
    seeds: [traceparentOf(place), `01-${place.traceId}-${place.spanId}-00-more`],
    words: ["-", "ff", "00", "0".repeat(32), " ", "G"],
    read(bytes) {
      const found = parseTraceparent(textOf(bytes));
      if (found === undefined) return undefined;
      const again = parseTraceparent(traceparentOf(found));
      if (again?.traceId !== found.traceId || again.spanId !== found.spanId)
        throw new BrokenLaw("written and read again, it is another place");
      return found.isSampled;
    },
  };
}
