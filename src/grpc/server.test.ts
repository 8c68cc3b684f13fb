import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { type AddressInfo, connect as connectSocket } from "node:net";
import {
  type DescMessage,
  type DescMethod,
  fromBinary,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import {
  Client,
  compressionAlgorithms,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { afterEach, expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import type { ReadResponse, WriteResponse } from "#proto/google/bytestream/bytestream_pb.ts";
import { PreconditionFailureSchema } from "#proto/google/rpc/error_details_pb.ts";
import { StatusSchema } from "#proto/google/rpc/status_pb.ts";
import { letTimePass, letTimeStandStill } from "#scheduling/still-time.fixture.ts";
import { isAnotherOwnerWaiting, shortWork } from "#scheduling/take-turns.ts";
import { Conformance, conformanceMethods, type Seen } from "./conformance-service.fixture.ts";
import { pathOf, rawMethod } from "./method.ts";
import { type GrpcServerOptions, grpcServer } from "./server.ts";

const { unary, read, write, echo } = Conformance.method;
const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function serve(options: Partial<GrpcServerOptions> = {}, clientOptions = {}) {
  let cancelled: (reason: unknown) => void = () => {};
  const cancellation = new Promise<unknown>((resolve) => {
    cancelled = resolve;
  });
  const seen: Seen = { cancelled, sent: 0 };
  const server = grpcServer({ methods: conformanceMethods(seen), graceMs: 2_000, ...options });
  server.http2.listen(0, "127.0.0.1");
  await once(server.http2, "listening");
  cleanups.push(() => server.stop());
  const { port } = server.http2.address() as AddressInfo;
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    "grpc.max_receive_message_length": -1,
    ...clientOptions,
  });
  cleanups.push(() => client.close());
  return { server, client, seen, cancellation, port };
}

const encode = (schema: DescMessage) => (message: object) =>
  Buffer.from(toBinary(schema, { $typeName: schema.typeName, ...message } as Message));
const decode = (schema: DescMessage) => (bytes: Buffer) => fromBinary(schema, bytes);
const wire = (method: DescMethod) =>
  [pathOf(method), encode(method.input), decode(method.output)] as const;
const same = (bytes: Buffer) => bytes;
const ask = (resourceName: string, readLimit = 0n, readOffset = 0n) => ({
  resourceName,
  readLimit,
  readOffset,
});
const piece = (data: Uint8Array, resourceName = "") => ({
  data,
  resourceName,
  writeOffset: 0n,
  finishWrite: false,
});

function call(client: Client, request: object, options = {}, metadata = new Metadata()) {
  return new Promise<ReadResponse>((resolve, reject) => {
    client.makeUnaryRequest(...wire(unary), request, metadata, options, (error, response) =>
      error ? reject(error) : resolve(response as unknown as ReadResponse),
    );
  });
}

function readAll(client: Client, request: object) {
  const stream = client.makeServerStreamRequest(...wire(read), request);
  const got: ReadResponse[] = [];
  return new Promise<ReadResponse[]>((resolve, reject) => {
    stream.on("data", (response: ReadResponse) => got.push(response));
    stream.on("error", reject).on("end", () => resolve(got));
  });
}

test("answers a unary call of grpc-js", async () => {
  const { client } = await serve();

  const response = await call(client, ask("", 3n));

  expect(response.data).toHaveLength(3);
});

test("answers large messages and empty ones", async () => {
  const { client } = await serve();

  expect((await call(client, ask("", 0n))).data).toHaveLength(0);
  expect((await call(client, ask("", 9_000_000n))).data).toHaveLength(9_000_000);
});

test("streams responses in order", async () => {
  const { client } = await serve();

  const got = await readAll(client, ask("", 200n, 40_000n));

  expect(got.map(({ data }) => data[0])).toEqual(Array.from({ length: 200 }, (_, n) => n));
});

test("takes a stream of requests", async () => {
  const { client } = await serve();

  const response = await new Promise<WriteResponse>((resolve, reject) => {
    const stream = client.makeClientStreamRequest(...wire(write), (error, got) =>
      error ? reject(error) : resolve(got as unknown as WriteResponse),
    );
    for (let n = 0; n < 20; n++) stream.write(piece(new Uint8Array(1_000_003)));
    stream.end();
  });

  expect(response.committedSize).toBe(20_000_060n);
});

test("answers a bidirectional call message by message", async () => {
  const { client } = await serve();
  const stream = client.makeBidiStreamRequest(...wire(echo));

  stream.write(piece(Buffer.from("one")));
  const [first] = (await once(stream, "data")) as [ReadResponse];
  stream.write(piece(Buffer.from("two")));
  const [second] = (await once(stream, "data")) as [ReadResponse];
  stream.end();
  stream.resume();
  await once(stream, "end");

  expect([first, second].map(({ data }) => Buffer.from(data).toString())).toEqual(["one", "two"]);
});

test.each(["unary", "stream"])("says why a %s call failed, with details", async (kind) => {
  const { client } = await serve();

  const failed =
    kind === "unary" ? call(client, ask("fail")) : readAll(client, ask("fail", 2n, 4n));
  const error = (await failed.catch((reason: unknown) => reason)) as ServiceError;

  expect(error.code).toBe(status.FAILED_PRECONDITION);
  expect(error.details).toBe("50 % of the blobs are missing ✓");
  const [encoded] = error.metadata.get("grpc-status-details-bin");
  const [detail] = fromBinary(StatusSchema, encoded as Buffer).details;
  const failure = detail && anyUnpack(detail, PreconditionFailureSchema);
  expect(failure?.violations[0]?.subject).toBe("blobs/abc/3");
});

test("tells the log, not the client, what went wrong inside", async () => {
  const unexpected: unknown[] = [];
  const { client } = await serve({ onUnexpected: (reason) => unexpected.push(reason) });

  const failed = call(client, ask("crash"));

  await expect(failed).rejects.toMatchObject({ code: status.INTERNAL });
  await expect(failed).rejects.not.toThrow("secret");
  expect(String(unexpected)).toContain("secret");
});

test("names a call that failed inside by a request id, to the client and to the log", async () => {
  const logged: string[] = [];
  const { client } = await serve({ onUnexpected: (_reason, _path, id) => void logged.push(id) });
  const idOf = async (sent?: string) => {
    const metadata = new Metadata();
    if (sent !== undefined) metadata.set("x-request-id", sent);
    const error = await new Promise<ServiceError | null>((resolve) => {
      client.makeUnaryRequest(...wire(unary), ask("crash"), metadata, resolve);
    });
    return error?.metadata.get("x-request-id")[0];
  };

  expect(await idOf("mine")).toBe("mine");
  const made = await idOf();
  expect(made).toMatch(/^[0-9a-f-]{36}$/);
  expect(logged).toEqual(["mine", made]);
});

test("knows the methods that it serves", async () => {
  const { client } = await serve();

  const failed = new Promise((_, reject) => {
    client.makeUnaryRequest("/no.Such/Method", same, same, Buffer.alloc(0), reject);
  });

  await expect(failed).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
});

test("carries metadata both ways, bytes included", async () => {
  const { client } = await serve();
  const bytes = Buffer.from([0, 1, 254, 255]);
  const metadata = new Metadata();
  metadata.set("x-text", "hello");
  metadata.set("x-some-bin", bytes);

  const request = client.makeUnaryRequest(...wire(unary), ask("metadata"), metadata, () => {});
  const [[headers], [end]] = await Promise.all([
    once(request, "metadata"),
    once(request, "status"),
  ]);

  expect((headers as Metadata).get("x-back")).toEqual(["hello"]);
  expect((end as { metadata: Metadata }).metadata.get("x-back-bin")).toEqual([bytes]);
});

test("ends a call whose deadline is over, and tells its handler", async () => {
  const { client, cancellation } = await serve();

  const failed = call(client, ask("hang"), { deadline: Date.now() + 1_000 });

  await expect(failed).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED });
  expect(["deadline_exceeded", "cancelled"]).toContain(
    ((await cancellation) as { code: string }).code,
  );
});

test("tells a handler that its client has cancelled, and sends no more", async () => {
  const { client, seen, cancellation } = await serve();
  const stream = client.makeServerStreamRequest(...wire(read), ask("", 1_000_000n, 65_536n));
  stream.on("error", () => {});
  await once(stream, "data");

  stream.cancel();

  expect(await cancellation).toMatchObject({ code: "cancelled" });
  expect(seen.sent).toBeLessThan(5_000);
});

test("waits for a client that does not read", async () => {
  const { client, seen } = await serve();
  const stream = client.makeServerStreamRequest(...wire(read), ask("", 10_000n, 65_536n));
  stream.on("error", () => {});
  await once(stream, "metadata");
  stream.pause();

  await call(client, ask("", 1n));

  expect(seen.sent).toBeLessThan(1_000);
  stream.cancel();
});

test("makes a connection few large answers before it takes them, and all that it takes; others are served meanwhile", async () => {
  let made = 0;
  let someMade = () => {};
  const four = new Promise<void>((resolve) => {
    someMade = resolve;
  });
  const large = rawMethod(write, async ({ requests, sendInTurn }) => {
    await requests.only();
    await sendInTurn(1_000_000, async () => {
      if (++made === 4) someMade();
      return Buffer.alloc(1_000_000);
    });
  });
  const { client, port } = await serve({
    methods: [...conformanceMethods({ cancelled: () => {}, sent: 0 }), large],
  });
  const unread = connectHttp2(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } });
  unread.on("error", () => {});
  cleanups.push(() => unread.destroy());
  const asked = Array.from({ length: 100 }, async () => {
    const stream = unread.request({
      ":method": "POST",
      ":path": pathOf(write),
      "content-type": "application/grpc",
    });
    stream.resume();
    stream.end(Buffer.alloc(5));
    await once(stream, "close");
  });
  await four;

  expect((await call(client, ask("", 1n))).data).toHaveLength(1);
  expect(made).toBe(4);

  unread.settings({ initialWindowSize: 4_000_000 });
  await Promise.all(asked);
  expect(made).toBe(100);
});

test("answers a client that sends on after an early end", async () => {
  const { client } = await serve();

  const failed = new Promise((_, reject) => {
    const stream = client.makeClientStreamRequest(...wire(write), reject);
    stream.write(piece(new Uint8Array(1_000), "fail"));
    for (let n = 0; n < 30; n++) stream.write(piece(new Uint8Array(1_000_000)));
  });

  await expect(failed).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
  expect((await call(client, ask("", 1n))).data).toHaveLength(1);
});

test("refuses a message over the limit", async () => {
  const { client } = await serve({ maxMessageBytes: 1_000 });

  const failed = call(client, ask("x".repeat(2_000)));

  await expect(failed).rejects.toMatchObject({ code: status.RESOURCE_EXHAUSTED });
});

test("refuses headers over the limit without ending the connection", async () => {
  const { client } = await serve();
  const metadata = new Metadata();
  metadata.set("x-text", "x".repeat(40_000));

  const failed = call(client, ask(""), {}, metadata);

  await expect(failed).rejects.toMatchObject({ code: status.RESOURCE_EXHAUSTED });
  expect((await call(client, ask("", 1n))).data).toHaveLength(1);
});

test("reads compressed messages", async () => {
  const { client } = await serve(
    {},
    {
      "grpc.default_compression_algorithm": compressionAlgorithms.gzip,
    },
  );

  expect((await call(client, ask("x".repeat(10_000), 5n))).data).toHaveLength(5);
});

test("serves 1,000 calls at once", async () => {
  const { client } = await serve();

  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, n) => call(client, ask("", BigInt(n)))),
  );

  expect(answers.map(({ data }) => data.byteLength)).toEqual(answers.map((_, n) => n));
});

test("answers another connection's one call before most of many, though these came first", async () => {
  // Somebody's short call never ends, so that no clock decides whether anybody waits.
  letTimeStandStill();
  cleanups.push(letTimePass);
  cleanups.push(shortWork("somebody"));
  const { client, port } = await serve();
  const itsOwn = { "grpc.use_local_subchannel_pool": 1 };
  const other = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), itsOwn);
  cleanups.push(() => other.close());
  await call(other, ask("first"));
  let answered = 0;
  const all = Array.from({ length: 40 }, () => call(client, ask("many")).then(() => answered++));
  await Promise.race(all);
  await call(other, ask("one"));
  expect(answered).toBeLessThan(30);
  await Promise.all(all);
});

test.each([
  { isBackground: true, rests: false },
  { isBackground: false, rests: true },
])("long work rests for a call: $rests, in the background: $isBackground", async (given) => {
  letTimeStandStill();
  cleanups.push(letTimePass);
  let restsMeanwhile: boolean | undefined;
  const method = rawMethod(unary, async ({ requests }) => {
    await requests.only();
    restsMeanwhile = isAnotherOwnerWaiting("somebody");
    throw new Fault("not_found", "seen");
  });
  const { client } = await serve({ methods: [{ ...method, isBackground: given.isBackground }] });

  await expect(call(client, ask(""))).rejects.toMatchObject({ code: status.NOT_FOUND });

  expect(restsMeanwhile).toBe(given.rests);
});

test("stops after the calls in hand, and takes no others", async () => {
  const { client, server } = await serve();
  const stream = client.makeBidiStreamRequest(...wire(echo));
  stream.write(piece(Buffer.from("one")));
  await once(stream, "data");

  const stopping = server.stop();
  stream.write(piece(Buffer.from("two")));
  const [second] = (await once(stream, "data")) as [ReadResponse];
  stream.resume();
  stream.end();
  await Promise.all([once(stream, "end"), stopping]);

  expect(Buffer.from(second.data).toString()).toBe("two");
  await expect(call(client, ask(""))).rejects.toMatchObject({ code: status.UNAVAILABLE });
});

test("ends calls that outlive the grace", async () => {
  const { client, server, cancellation } = await serve({ graceMs: 20 });
  const failed = call(client, ask("hang")).catch((reason: unknown) => reason);
  await call(client, ask(""));

  await server.stop();

  expect(await failed).toMatchObject({ code: status.UNAVAILABLE });
  expect(await cancellation).toMatchObject({ code: "cancelled" });
});

test("stops also when a client never closes its connection", async () => {
  const { server, port } = await serve({ graceMs: 20 });
  const socket = connectSocket({ port, host: "127.0.0.1", allowHalfOpen: true });
  cleanups.push(() => void socket.destroy());
  const connected = once(server.http2, "session");
  // The preface, and empty SETTINGS.
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", "latin1");
  await connected;
  await once(socket, "data");
  socket.pause();
  await expect(server.stop()).resolves.toBeUndefined();
});

test("ends a connection that sends one malformed request after the other", async () => {
  const { port, client } = await serve();
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on("error", () => {});
  const goneAway = once(session, "goaway");
  const noMessage = Buffer.from([0, 0, 0, 0, 2, 0xff, 0xff]);
  for (let n = 0; n <= 200; n++) {
    const stream = session.request({
      ":method": "POST",
      ":path": pathOf(unary),
      "content-type": "application/grpc",
    });
    stream.on("error", () => {});
    stream.resume();
    stream.end(noMessage);
  }
  const [code] = (await goneAway) as [number];
  expect(code).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  // Others have connections of their own.
  await expect(call(client, ask("blob"))).resolves.toBeDefined();
});

test("an unfinished message gives way to one that arrives completely, and its client is told", async () => {
  const { port, client } = await serve({ maxSharedBytes: 1_000_000 });
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on("error", () => {});
  cleanups.push(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": pathOf(unary),
    "content-type": "application/grpc",
  });
  stream.on("error", () => {});
  stream.resume();
  const ended = once(stream, "response");
  const head = Buffer.alloc(5);
  head.writeUInt32BE(900_001, 1);
  stream.write(Buffer.concat([head, Buffer.alloc(900_000)]));
  // The server has received it when it answers a ping that was sent after it.
  await new Promise((resolve) => session.ping(resolve));

  const answer = await call(client, ask("x".repeat(500_000), 3n));

  expect(answer.data).toHaveLength(3);
  const [headers] = await ended;
  expect(headers["grpc-status"]).toBe(String(status.RESOURCE_EXHAUSTED));
});
