import { once } from "node:events";
import { createServer, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { GrpcChannel } from "./channel.ts";
import { Conformance, conformanceMethods } from "./conformance-service.fixture.ts";
import { onePort, protocolOf } from "./one-port.ts";
import { grpcServer } from "./server.ts";

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function listen(silenceMs?: number) {
  const grpc = grpcServer({ methods: conformanceMethods({ cancelled: () => {}, sent: 0 }) });
  const http = createServer((incoming, response) => {
    let bytes = 0;
    incoming.on("data", (chunk: Buffer) => {
      bytes += chunk.byteLength;
    });
    incoming.on("end", () => response.end(`${incoming.method} ${bytes}`));
  });
  const server = onePort(http, grpc.http2, silenceMs === undefined ? {} : { silenceMs });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(async () => {
    const closed = once(server, "close");
    server.close();
    http.closeAllConnections();
    http.close();
    await grpc.stop();
    await closed;
  });
  return { port: (server.address() as AddressInfo).port };
}

async function post(port: number, body: Buffer): Promise<string> {
  const asked = request({ port, host: "127.0.0.1", method: "POST", agent: false });
  asked.end(body);
  const [response] = await once(asked, "response");
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return text;
}

async function dripped(port: number, text: string): Promise<Buffer> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  cleanups.push(() => void socket.destroy());
  for (const chunk of text.split("")) {
    await new Promise<void>((resolve) => socket.write(chunk, () => setImmediate(resolve)));
  }
  const [data] = (await once(socket, "data")) as [Buffer];
  return data;
}

test.each([
  ["GET / HTTP/1.1", "http1"],
  ["P", "unknown"],
  ["PUT / HTTP", "http1"],
  [preface.slice(0, 23), "unknown"],
  [preface, "http2"],
  [`${preface}more`, "http2"],
  ["PRI * HTTP/1.1\r\n", "http1"],
])("%j is %s", (bytes, protocol) => {
  expect(protocolOf(Buffer.from(bytes))).toBe(protocol);
});

test("serves HTTP/1.1 and gRPC on one port", async () => {
  const { port } = await listen();
  const channel = new GrpcChannel({ url: `http://127.0.0.1:${port}` });
  cleanups.push(() => channel.stop());

  const [text, response] = await Promise.all([
    post(port, Buffer.alloc(3_000_000)),
    channel.unary(Conformance.method.unary, { readLimit: 2_000_000n }),
  ]);

  expect(text).toBe("POST 3000000");
  expect(response.data).toHaveLength(2_000_000);
});

test("waits for a preface that arrives byte by byte", async () => {
  const { port } = await listen();
  const emptySettings = "\0\0\0\x04\0\0\0\0\0";

  const answer = await dripped(port, preface + emptySettings);

  // A SETTINGS frame: type 4 in the fourth byte.
  expect(answer[3]).toBe(4);
});

test("answers an HTTP/1.1 request that arrives byte by byte", async () => {
  const { port } = await listen();

  const answer = await dripped(port, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n");

  expect(answer.toString()).toContain("200 OK");
});

test("closes a connection that does not say what it speaks", async () => {
  const { port } = await listen(20);
  const socket = connect({ port, host: "127.0.0.1" });

  socket.write("PRI");
  socket.resume();

  await once(socket, "close");
  expect(socket.destroyed).toBe(true);
});
