/**
 * Attacks the target that its parent names, in the named way, until it is stopped: each command is a message. Answers
 * the first when the attack runs, and the second with the number of completed calls.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { create, type DescMethod, toBinary } from "@bufbuild/protobuf";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { zstdWhole } from "#cas/zstd/zstd-streams.ts";
import { digestKey } from "#core/digest.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { framed } from "#grpc/frame.ts";
import { pathOf } from "#grpc/method.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import {
  BatchReadBlobsRequestSchema,
  ContentAddressableStorage,
  FindMissingBlobsRequestSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import {
  ByteStream,
  ReadRequestSchema,
  WriteRequestSchema,
} from "#proto/google/bytestream/bytestream_pb.ts";

export interface Attack {
  readonly url: string;
  readonly kind: string;
  /** Calls per second, if limited; the sink, which stores nothing, accepts any number. */
  readonly pace?: number;
}

let { url, kind, pace }: Attack = { url: "", kind: "" };
let callsOver = 0;
/** Closes everything that the running attack has open. */
const open = new Set<() => void>();
const streams = 1_000;
const { findMissingBlobs, batchReadBlobs, batchUpdateBlobs } = ContentAddressableStorage.method;

const frame = (bytes: Uint8Array) => Buffer.concat(framed(bytes));

function openSession(settings = {}): ClientHttp2Session {
  const session = connectHttp2(url, { settings });
  session.on("error", () => {});
  const end = () => session.destroy();
  open.add(end);
  session.once("close", () => open.delete(end));
  return session;
}

function openStream(
  session: ClientHttp2Session,
  method: DescMethod,
  parts: readonly Uint8Array[],
  end = false,
) {
  const stream = session.request({
    ":method": "POST",
    ":path": pathOf(method),
    "content-type": "application/grpc",
    te: "trailers",
  });
  stream.on("error", () => {});
  for (const part of parts) stream.write(part);
  if (end) stream.end();
  return stream;
}

const attacks: Record<string, () => Promise<void>> = {
  async "slow-uploads"() {
    const session = openSession();
    for (let n = 0; n < streams; n++) {
      const digest = digestOf(Buffer.from(`never ${n}`));
      const first = create(WriteRequestSchema, {
        resourceName: `uploads/${n}/blobs/${digest.hash}/1000000000`,
        data: randomBytes(10_000),
      });
      openStream(session, ByteStream.method.write, [frame(toBinary(WriteRequestSchema, first))]);
    }
  },

  async "slow-readers"() {
    const bytes = randomBytes(4_000_000);
    const digest = digestOf(bytes);
    const channel = new GrpcChannel({ url });
    if (pace === undefined) await remoteBlobStore(channel, "").put(digest, bytes);
    await channel.stop();
    // Its flow-control window is zero.
    const session = openSession({ initialWindowSize: 0 });
    const read = create(ReadRequestSchema, { resourceName: `blobs/${digestKey(digest)}` });
    const batch = create(BatchReadBlobsRequestSchema, { digests: [toDigestMessage(digest)] });
    for (let n = 0; n < streams; n++) {
      if (n % 2 === 0)
        openStream(
          session,
          ByteStream.method.read,
          [frame(toBinary(ReadRequestSchema, read))],
          true,
        );
      else
        openStream(
          session,
          batchReadBlobs,
          [frame(toBinary(BatchReadBlobsRequestSchema, batch))],
          true,
        );
    }
  },

  async "half-open"() {
    const session = openSession();
    for (let n = 0; n < streams; n++) openStream(session, findMissingBlobs, []);
  },

  async "held-batches"() {
    // On several connections, because each has its own limit.
    const head = Buffer.alloc(5);
    head.writeUInt32BE(4_000_000, 1);
    const rest = Buffer.alloc(3_999_999);
    for (let c = 0; c < 20; c++) {
      const session = openSession();
      for (let n = 0; n < streams / 20; n++) openStream(session, batchUpdateBlobs, [head, rest]);
    }
  },

  async "slow-http"() {
    const port = Number(new URL(url).port);
    for (let n = 0; n < 400; n++) {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      open.add(() => socket.destroy());
      await once(socket, "connect");
      if (n % 2 === 0) continue;
      socket.write(
        `PUT /cache/default/gradle/slow-${n} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9000000\r\n\r\n`,
      );
      const drip = setInterval(() => socket.write("x"), 1_000);
      socket.once("close", () => clearInterval(drip));
    }
  },

  "many-digests": () => flood([manyDigests()]),
  noise: () => flood([noise(findMissingBlobs)]),
  "noisy-batches": () => flood([noise(batchUpdateBlobs)]),
  bombs: async () => flood([await bombs()]),
  connections: () =>
    flood(
      Array.from({ length: 20 }, () => nothingRequested()),
      1,
    ),
  "many-calls": () => manyAtOnce(manyDigests(10)),
  floods: async () => flood([manyDigests(), noise(findMissingBlobs), await bombs()]),
};

type Call = readonly [DescMethod, Buffer];

function manyDigests(count = 50_000): Call {
  const blobDigests = Array.from({ length: count }, (_, n) =>
    toDigestMessage(digestOf(Buffer.from(`absent ${n}`))),
  );
  const request = create(FindMissingBlobsRequestSchema, { blobDigests });
  return [findMissingBlobs, frame(toBinary(FindMissingBlobsRequestSchema, request))];
}

function noise(method: DescMethod): Call {
  return [method, frame(Buffer.alloc(4_000_000, Buffer.from([0x12, 0])))];
}

async function bombs(): Promise<Call> {
  const write = create(WriteRequestSchema, {
    resourceName: `uploads/b/compressed-blobs/zstd/${digestOf(Buffer.of(1)).hash}/60000000`,
    data: await zstdWhole(Buffer.alloc(64 * 1_048_576)),
    finishWrite: true,
  });
  return [ByteStream.method.write, frame(toBinary(WriteRequestSchema, write))];
}

function nothingRequested(): Call {
  return [findMissingBlobs, frame(new Uint8Array())];
}

/** Repeats each call, one at a time, on connections that are soon closed. */
async function flood(calls: readonly Call[], callsOfConnection = 20): Promise<void> {
  const betweenMs = pace === undefined ? 0 : (1_000 * calls.length) / pace;
  let isOver = false;
  open.add(() => {
    isOver = true;
  });
  for (const [method, bytes] of calls) {
    void (async () => {
      for (let due = performance.now(); !isOver; ) {
        const session = openSession();
        for (let n = 0; n < callsOfConnection && !session.closed && !isOver; n++) {
          const stream = openStream(session, method, [bytes], true);
          stream.resume();
          await new Promise<void>((resolve) => stream.once("close", resolve));
          callsOver++;
          due = Math.max(due, performance.now() - 1_000) + betweenMs;
          const wait = due - performance.now();
          if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
        }
        session.destroy();
      }
    })();
  }
}

/** Repeats a call, a thousand times concurrently, on one connection. */
async function manyAtOnce([method, bytes]: Call): Promise<void> {
  const session = openSession();
  const betweenMs = pace === undefined ? 0 : (1_000 * streams) / pace;
  for (let n = 0; n < streams; n++) {
    void (async () => {
      // Spread over time, if there is a rate limit.
      let due = performance.now() + (n / streams) * betweenMs;
      while (!session.destroyed) {
        const wait = due - performance.now();
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
        if (session.destroyed) return;
        const stream = openStream(session, method, [bytes], true);
        stream.resume();
        await new Promise<void>((resolve) => stream.once("close", resolve));
        callsOver++;
        due = Math.max(due, performance.now() - 1_000) + betweenMs;
      }
    })();
  }
}

process.on("message", (told: Attack | "stop") => void obey(told));

async function obey(told: Attack | "stop"): Promise<void> {
  if (told === "stop") {
    for (const end of open) end();
    open.clear();
    process.send?.(callsOver);
    return;
  }
  ({ url, kind, pace } = told);
  await attacks[kind]?.();
  await new Promise((resolve) => setTimeout(resolve, 500));
  callsOver = 0;
  process.send?.("under way");
}

// Exits when the parent has disconnected.
process.once("disconnect", () => process.exit());
process.send?.("ready");
