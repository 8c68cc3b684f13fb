/**
 * Grange's gRPC compared with grpc-js, server and client in one process, same messages.
 *
 * `npx tsx bench/grpc.ts` takes about 20 s and prints a ratio for each measure. Both sides share one core, so rates are
 * lower than a server's alone; the ratios are still valid.
 */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  Client,
  credentials,
  Server,
  ServerCredentials,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from "@grpc/grpc-js";
import { readResponse, writeRequest } from "#grpc/byte-stream-wire.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { methodsOf, pathOf, rawMethod } from "#grpc/method.ts";
import { grpcServer } from "#grpc/server.ts";
import {
  ByteStream,
  QueryWriteStatusRequestSchema,
  QueryWriteStatusResponseSchema,
  ReadRequestSchema,
  ReadResponseSchema,
  WriteRequestSchema,
  WriteResponseSchema,
} from "#proto/google/bytestream/bytestream_pb.ts";

const chunk = Buffer.alloc(1_048_576, "x");
const chunksPerStream = 64;
const measureMs = 2_000;
const name = "x".repeat(1_000);
const { read, write, queryWriteStatus } = ByteStream.method;

interface Side {
  unary(): Promise<unknown>;
  read(): Promise<unknown>;
  write(): Promise<unknown>;
  stop(): unknown;
}

async function ours(): Promise<Side> {
  const server = grpcServer({
    methods: [
      rawMethod(read, async ({ send }) => {
        for (let n = 0; n < chunksPerStream; n++) await send(readResponse(chunk));
      }),
      ...methodsOf(ByteStream, {
        async write(requests) {
          let size = 0;
          for await (const { data } of requests) size += data.byteLength;
          return { committedSize: BigInt(size) };
        },
        queryWriteStatus: async ({ resourceName }) => ({
          committedSize: BigInt(resourceName.length),
        }),
      }),
    ],
  });
  server.http2.listen(0, "127.0.0.1");
  await once(server.http2, "listening");
  const { port } = server.http2.address() as AddressInfo;
  const channel = new GrpcChannel({ url: `http://127.0.0.1:${port}` });
  async function* uploads() {
    for (let n = 0; n < chunksPerStream; n++) {
      yield writeRequest({ resourceName: "", writeOffset: 0, finishWrite: false, data: chunk });
    }
  }
  return {
    unary: () => channel.unary(queryWriteStatus, { resourceName: name }),
    async read() {
      for await (const { data } of channel.serverStream(read, { resourceName: name })) void data;
    },
    write: () => channel.rawClientStream(write, uploads()),
    async stop() {
      await channel.stop();
      await server.stop();
    },
  };
}

async function grpcJs(): Promise<Side> {
  const server = new Server({ "grpc.max_receive_message_length": -1 });
  const codec = {
    unary: {
      path: pathOf(queryWriteStatus),
      requestStream: false,
      responseStream: false,
      requestSerialize: (m: { resourceName: string }) =>
        Buffer.from(
          toBinary(QueryWriteStatusRequestSchema, {
            $typeName: QueryWriteStatusRequestSchema.typeName,
            ...m,
          }),
        ),
      requestDeserialize: (bytes: Buffer) => fromBinary(QueryWriteStatusRequestSchema, bytes),
      responseSerialize: (m: { committedSize: bigint }) =>
        Buffer.from(
          toBinary(QueryWriteStatusResponseSchema, {
            $typeName: QueryWriteStatusResponseSchema.typeName,
            complete: false,
            ...m,
          }),
        ),
      responseDeserialize: (bytes: Buffer) => fromBinary(QueryWriteStatusResponseSchema, bytes),
    },
    read: {
      path: pathOf(read),
      requestStream: false,
      responseStream: true,
      requestSerialize: (m: { resourceName: string }) =>
        Buffer.from(
          toBinary(ReadRequestSchema, {
            $typeName: ReadRequestSchema.typeName,
            readOffset: 0n,
            readLimit: 0n,
            ...m,
          }),
        ),
      requestDeserialize: (bytes: Buffer) => fromBinary(ReadRequestSchema, bytes),
      responseSerialize: (m: { data: Uint8Array }) =>
        Buffer.from(toBinary(ReadResponseSchema, { $typeName: ReadResponseSchema.typeName, ...m })),
      responseDeserialize: (bytes: Buffer) => fromBinary(ReadResponseSchema, bytes),
    },
    write: {
      path: pathOf(write),
      requestStream: true,
      responseStream: false,
      requestSerialize: (m: { data: Uint8Array }) =>
        Buffer.from(
          toBinary(WriteRequestSchema, {
            $typeName: WriteRequestSchema.typeName,
            resourceName: "",
            writeOffset: 0n,
            finishWrite: false,
            ...m,
          }),
        ),
      requestDeserialize: (bytes: Buffer) => fromBinary(WriteRequestSchema, bytes),
      responseSerialize: (m: { committedSize: bigint }) =>
        Buffer.from(
          toBinary(WriteResponseSchema, { $typeName: WriteResponseSchema.typeName, ...m }),
        ),
      responseDeserialize: (bytes: Buffer) => fromBinary(WriteResponseSchema, bytes),
    },
  };
  server.addService(codec, {
    unary: (call: ServerUnaryCall<{ resourceName: string }, object>, done: sendUnaryData<object>) =>
      done(null, { committedSize: BigInt(call.request.resourceName.length) }),
    async read(call: ServerWritableStream<object, object>) {
      for (let n = 0; n < chunksPerStream; n++) {
        if (!call.write({ data: chunk })) await once(call, "drain");
      }
      call.end();
    },
    write(call: ServerReadableStream<{ data: Uint8Array }, object>, done: sendUnaryData<object>) {
      let size = 0;
      call.on("data", ({ data }) => {
        size += data.byteLength;
      });
      call.on("end", () => done(null, { committedSize: BigInt(size) }));
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const settle =
    (resolve: (value: unknown) => void, reject: (reason: unknown) => void) =>
    (error: unknown, value?: unknown) =>
      error ? reject(error) : resolve(value);
  return {
    unary: () =>
      new Promise((resolve, reject) => {
        const { path, requestSerialize, responseDeserialize } = codec.unary;
        client.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          { resourceName: name },
          settle(resolve, reject),
        );
      }),
    async read() {
      const { path, requestSerialize, responseDeserialize } = codec.read;
      const stream = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, {
        resourceName: name,
      });
      stream.resume();
      await once(stream, "end");
    },
    write: () =>
      new Promise((resolve, reject) => {
        const { path, requestSerialize, responseDeserialize } = codec.write;
        const stream = client.makeClientStreamRequest(
          path,
          requestSerialize,
          responseDeserialize,
          settle(resolve, reject),
        );
        void (async () => {
          for (let n = 0; n < chunksPerStream; n++) {
            if (!stream.write({ data: chunk })) await once(stream, "drain");
          }
          stream.end();
        })();
      }),
    stop() {
      client.close();
      server.forceShutdown();
    },
  };
}

/** Returns how often `work` runs in a second, with this many concurrent callers. */
async function rate(work: () => Promise<unknown>, callers: number): Promise<number> {
  await work();
  const start = performance.now();
  let done = 0;
  const caller = async () => {
    for (; performance.now() - start < measureMs; done++) await work();
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return (done * 1_000) / (performance.now() - start);
}

const sides = { ours: await ours(), grpcJs: await grpcJs() };
const mbPerStream = (chunk.byteLength * chunksPerStream) / 1e6;
const measures = [
  ["unary 1 KB, 64 callers, calls/s", "unary", 64, 1],
  ["read 1 MiB chunks, 4 streams, MB/s", "read", 4, mbPerStream],
  ["write 1 MiB chunks, 4 streams, MB/s", "write", 4, mbPerStream],
] as const;
for (const [title, verb, callers, unit] of measures) {
  const our = (await rate(sides.ours[verb], callers)) * unit;
  const their = (await rate(sides.grpcJs[verb], callers)) * unit;
  process.stdout.write(
    `${title}: ours ${our.toFixed(0)}, grpc-js ${their.toFixed(0)}, ratio ${(our / their).toFixed(2)}\n`,
  );
}
await sides.ours.stop();
await sides.grpcJs.stop();
