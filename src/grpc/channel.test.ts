import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { create, type DescMethod, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { anyPack, anyUnpack } from "@bufbuild/protobuf/wkt";
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from "@grpc/grpc-js";
import { afterEach, expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import type {
  ReadRequest,
  ReadResponse,
  WriteRequest,
  WriteResponse,
} from "#proto/google/bytestream/bytestream_pb.ts";
import { PreconditionFailureSchema } from "#proto/google/rpc/error_details_pb.ts";
import { GrpcChannel } from "./channel.ts";
import { Conformance, conformanceMethods } from "./conformance-service.fixture.ts";
import { DetailedFault } from "./detailed-fault.ts";
import { pathOf } from "./method.ts";
import { grpcServer } from "./server.ts";
import { statusHeaders } from "./status.ts";

const { unary, read, write, echo } = Conformance.method;
const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** grpc-js as the server; what it is told to do is in the resource name. */
async function grpcJsServer(options = {}) {
  const server = new Server({ "grpc.max_receive_message_length": -1, ...options });
  let cancelled = () => {};
  const cancellation = new Promise<void>((resolve) => {
    cancelled = resolve;
  });
  const definition = (method: DescMethod) => ({
    path: pathOf(method),
    requestStream:
      method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming",
    responseStream:
      method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming",
    requestSerialize: (message: Message) => Buffer.from(toBinary(method.input, message)),
    requestDeserialize: (bytes: Buffer) => fromBinary(method.input, bytes),
    responseSerialize: (message: object) =>
      Buffer.from(
        toBinary(method.output, { $typeName: method.output.typeName, ...message } as Message),
      ),
    responseDeserialize: (bytes: Buffer) => fromBinary(method.output, bytes),
  });
  const refusal = () => {
    const headers = statusHeaders(missingBlob());
    const metadata = new Metadata();
    metadata.set(
      "grpc-status-details-bin",
      Buffer.from(headers["grpc-status-details-bin"] ?? "", "base64"),
    );
    return { code: 9, details: "gone ✓", metadata };
  };
  server.addService(
    {
      unary: definition(unary),
      read: definition(read),
      write: definition(write),
      echo: definition(echo),
    },
    {
      unary(call: ServerUnaryCall<ReadRequest, object>, done: sendUnaryData<object>) {
        if (call.request.resourceName === "fail") return done(refusal());
        if (call.request.resourceName === "hang") return call.on("cancelled", cancelled);
        const trailers = new Metadata();
        for (const bytes of call.metadata.get("x-some-bin")) trailers.add("x-back-bin", bytes);
        return done(null, { data: new Uint8Array(Number(call.request.readLimit)) }, trailers);
      },
      read(call: ServerWritableStream<ReadRequest, object>) {
        call.on("cancelled", cancelled);
        for (let n = 0; n < call.request.readLimit; n++) {
          call.write({ data: new Uint8Array(Number(call.request.readOffset)).fill(n) });
        }
        if (call.request.resourceName === "fail") call.emit("error", refusal());
        else call.end();
      },
      write(call: ServerReadableStream<WriteRequest, object>, done: sendUnaryData<object>) {
        let committed = 0;
        call.on("data", ({ data, resourceName }: WriteRequest) => {
          if (resourceName === "fail") done(refusal());
          committed += data.byteLength;
        });
        call.on("end", () => done(null, { committedSize: BigInt(committed) }));
      },
      echo(call: ServerDuplexStream<WriteRequest, object>) {
        call.on("data", ({ data }: WriteRequest) => call.write({ data }));
        call.on("end", () => call.end());
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  cleanups.push(() => server.forceShutdown());
  return { ...channelTo(port), server, cancellation };
}

function channelTo(port: number) {
  const channel = new GrpcChannel({ url: `http://127.0.0.1:${port}`, minBackoffMs: 1 });
  cleanups.push(() => channel.stop());
  return { channel };
}

function missingBlob(): DetailedFault {
  const failure = create(PreconditionFailureSchema, {
    violations: [{ type: "MISSING", subject: "blobs/abc/3" }],
  });
  return new DetailedFault("failed_precondition", "gone ✓", [
    anyPack(PreconditionFailureSchema, failure),
  ]);
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function* pieces(count: number, size: number, resourceName = "") {
  for (let n = 0; n < count; n++) yield { data: new Uint8Array(size), resourceName };
}

test("calls a unary method of grpc-js, small and large", async () => {
  const { channel } = await grpcJsServer();

  expect((await channel.unary(unary, { readLimit: 3n })).data).toHaveLength(3);
  expect((await channel.unary(unary, { readLimit: 4_000_000n })).data).toHaveLength(4_000_000);
});

test("reads a stream of responses in order", async () => {
  const { channel } = await grpcJsServer();

  const got = await collect(channel.serverStream(read, { readLimit: 100n, readOffset: 50_000n }));

  expect(got.map(({ data }) => data[0])).toEqual(Array.from({ length: 100 }, (_, n) => n));
});

test("sends a stream of requests", async () => {
  const { channel } = await grpcJsServer();

  const response: WriteResponse = await channel.clientStream(write, pieces(20, 1_000_003));

  expect(response.committedSize).toBe(20_000_060n);
});

test("talks both ways at once", async () => {
  const { channel } = await grpcJsServer();

  const got: ReadResponse[] = await collect(channel.bidi(echo, pieces(50, 30_000)));

  expect(got.map(({ data }) => data.byteLength)).toEqual(Array.from({ length: 50 }, () => 30_000));
});

test.each(["unary", "read", "write"])(
  "throws the Fault of a failed %s, with details",
  async (kind) => {
    const { channel } = await grpcJsServer();
    const fails = {
      unary: () => channel.unary(unary, { resourceName: "fail" }),
      read: () => collect(channel.serverStream(read, { resourceName: "fail", readLimit: 3n })),
      write: () => channel.clientStream(write, pieces(30, 1_000_000, "fail")),
    }[kind as "unary" | "read" | "write"];

    const fault = await fails().catch((reason: unknown) => reason);

    expect(fault).toMatchObject({ code: "failed_precondition", message: "gone ✓" });
    const [detail] = (fault as DetailedFault).details;
    const failure = detail && anyUnpack(detail, PreconditionFailureSchema);
    expect(failure?.violations[0]?.subject).toBe("blobs/abc/3");
  },
);

test("carries bytes in metadata", async () => {
  const { channel } = await grpcJsServer();
  const bytes = Buffer.from([0, 200, 255]);
  let back: unknown;

  await channel.unary(
    unary,
    {},
    {
      metadata: { "x-some-bin": bytes },
      onTrailers: (trailers) => {
        back = trailers["x-back-bin"];
      },
    },
  );

  expect(back).toEqual(bytes);
});

test("gives up at the deadline, and the server knows", async () => {
  const { channel, cancellation } = await grpcJsServer();

  const failed = channel.unary(unary, { resourceName: "hang" }, { timeoutMs: 30 });

  await expect(failed).rejects.toMatchObject({ code: "deadline_exceeded" });
  await cancellation;
});

test("cancels by signal, and the server knows", async () => {
  const { channel, cancellation } = await grpcJsServer();
  const abort = new AbortController();
  await channel.unary(unary, {});

  const failed = channel.unary(unary, { resourceName: "hang" }, { signal: abort.signal });
  const outcome = failed.catch((reason: unknown) => reason);
  await channel.unary(unary, {});
  abort.abort();

  expect(await outcome).toMatchObject({ code: "cancelled" });
  await cancellation;
});

test("cancels a stream whose reader stops", async () => {
  const { channel, cancellation } = await grpcJsServer();

  for await (const response of channel.serverStream(read, {
    readLimit: 500n,
    readOffset: 65_536n,
  })) {
    expect(response.data[0]).toBe(0);
    break;
  }

  await cancellation;
});

test("reads what grpc-js compresses", async () => {
  const { channel } = await grpcJsServer({ "grpc.default_compression_algorithm": 2 });

  expect((await channel.unary(unary, { readLimit: 100_000n })).data).toHaveLength(100_000);
});

test("has 1,000 calls under way at once", async () => {
  const { channel } = await grpcJsServer();

  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, n) => channel.unary(unary, { readLimit: BigInt(n) })),
  );

  expect(answers.map(({ data }) => data.byteLength)).toEqual(answers.map((_, n) => n));
});

test("refuses a response over the limit", async () => {
  const { channel } = await grpcJsServer();

  const failed = channel.unary(unary, { readLimit: 9_000_000n });

  await expect(failed).rejects.toMatchObject({ code: "resource_exhausted" });
});

test("says at once that nobody listens, and connects when somebody does", async () => {
  const place = createTcpServer().listen(0, "127.0.0.1");
  await once(place, "listening");
  const { port } = place.address() as AddressInfo;
  await new Promise((resolve) => place.close(resolve));
  const { channel } = channelTo(port);

  await expect(channel.unary(unary, {})).rejects.toMatchObject({ code: "unavailable" });

  const server = grpcServer({ methods: conformanceMethods({ cancelled: () => {}, sent: 0 }) });
  server.http2.listen(port, "127.0.0.1");
  await once(server.http2, "listening");
  cleanups.push(() => server.stop());
  await expect
    .poll(async () => (await channel.unary(unary, { readLimit: 2n })).data.byteLength, {
      interval: 5,
    })
    .toBe(2);
});

test("moves to a new connection when the server says goodbye, and finishes on the old", async () => {
  const methods = conformanceMethods({ cancelled: () => {}, sent: 0 });
  const first = grpcServer({ methods });
  first.http2.listen(0, "127.0.0.1");
  await once(first.http2, "listening");
  const { port } = first.http2.address() as AddressInfo;
  const { channel } = channelTo(port);
  const gate = new Gate();
  const talk = channel.bidi(echo, gate.pieces());
  gate.open();
  expect((await talk.next()).done).toBe(false);

  const stopping = first.stop();
  const second = grpcServer({ methods });
  second.http2.listen(port, "127.0.0.1");
  await once(second.http2, "listening");
  cleanups.push(() => second.stop());
  await expect
    .poll(async () => (await channel.unary(unary, { readLimit: 2n })).data.byteLength, {
      interval: 5,
    })
    .toBe(2);
  gate.open();

  expect((await talk.next()).done).toBe(false);
  expect((await talk.next()).done).toBe(true);
  await stopping;
});

test("fails calls with `cancelled` once it is stopped", async () => {
  const { channel } = await grpcJsServer();
  await channel.unary(unary, {});

  await channel.stop();

  await expect(channel.unary(unary, {})).rejects.toThrow(
    new Fault("cancelled", "the channel is closed"),
  );
});

/** Lets two messages through, each when it is opened. */
class Gate {
  readonly #openings: (() => void)[] = [];
  readonly #waits = [0, 1].map(() => new Promise<void>((resolve) => this.#openings.push(resolve)));

  open(): void {
    this.#openings.shift()?.();
  }

  async *pieces() {
    for (const wait of this.#waits) {
      await wait;
      yield { data: new Uint8Array(1) };
    }
  }
}
