import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, get as getHttp } from "node:http";
import { request } from "node:https";
import { type AddressInfo, connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { credentials, makeGenericClientConstructor } from "@grpc/grpc-js";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { curl } from "../../test/support/needs/machine-needs.ts";
import { needs } from "../../test/support/needs/needs.ts";
import { type TestCertificate, testCertificate } from "../../test/support/test-certificate.ts";
import { GrpcChannel } from "./channel.ts";
import { Conformance, conformanceMethods } from "./conformance-service.fixture.ts";
import { onePort } from "./one-port.ts";
import { grpcServer } from "./server.ts";
import type { TlsIdentity } from "./tls-handshakes.ts";

let directory: string;
let certificate: TestCertificate;
let identity: TlsIdentity;
const cleanups: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "grange-tls-"));
  certificate = await testCertificate(directory);
  identity = await identityOf(certificate);
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function identityOf({ pem, key }: TestCertificate): Promise<TlsIdentity> {
  return { cert: pem, key: await readFile(key, "utf8") };
}

async function listen(current: () => TlsIdentity = () => identity, silenceMs = 10_000) {
  const grpc = grpcServer({ methods: conformanceMethods({ cancelled: () => {}, sent: 0 }) });
  const http = createServer((incoming, response) => {
    let bytes = 0;
    incoming.on("data", (chunk: Buffer) => {
      bytes += chunk.byteLength;
    });
    incoming.on("end", () => response.end(`${incoming.method} ${bytes}`));
  });
  const server = onePort(http, grpc.http2, { identity: current, silenceMs });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = async () => {
    const closed = once(server, "close");
    server.close();
    http.closeAllConnections();
    http.close();
    await grpc.stop();
    await closed;
  };
  cleanups.push(stop);
  return { port: (server.address() as AddressInfo).port };
}

async function post(port: number, body: Buffer): Promise<string> {
  const asked = request({
    port,
    host: "127.0.0.1",
    method: "POST",
    agent: false,
    ca: certificate.pem,
  });
  asked.end(body);
  const [response] = await once(asked, "response");
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return text;
}

async function handshake(port: number, more: object = {}): Promise<TLSSocket> {
  const socket = connect({ port, host: "127.0.0.1", ca: certificate.pem, ...more });
  cleanups.push(() => void socket.destroy());
  await once(socket, "secureConnect");
  return socket;
}

test("serves HTTP/1.1 and gRPC on one port, and never mixes them up", async () => {
  const { port } = await listen();
  const channel = new GrpcChannel({
    url: `https://127.0.0.1:${port}`,
    tls: { ca: certificate.pem },
  });
  cleanups.push(() => channel.stop());

  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, at) =>
      at % 2 === 0
        ? post(port, Buffer.alloc(1_000_000))
        : (await channel.unary(Conformance.method.unary, { readLimit: 1_000_000n })).data.length,
    ),
  );

  expect(answers).toEqual(
    Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? "POST 1000000" : 1_000_000)),
  );
});

test("grpc-js is served", async () => {
  const { port } = await listen();
  const path = `/${Conformance.typeName}/Unary`;
  const same = (bytes: Buffer) => bytes;
  const Client = makeGenericClientConstructor(
    {
      unary: {
        path,
        requestStream: false,
        responseStream: false,
        requestSerialize: same,
        requestDeserialize: same,
        responseSerialize: same,
        responseDeserialize: same,
      },
    },
    "Conformance",
  );
  const client = new Client(
    `127.0.0.1:${port}`,
    credentials.createSsl(Buffer.from(certificate.pem)),
  );
  cleanups.push(() => client.close());

  const answer = await new Promise<Buffer>((resolve, reject) => {
    (
      client as unknown as Record<
        string,
        (asked: Buffer, done: (cause: Error | null, answer: Buffer) => void) => void
      >
    )["unary"]?.(Buffer.alloc(0), (cause, got) => (cause ? reject(cause) : resolve(got)));
  });

  expect(answer).toBeInstanceOf(Buffer);
});

test.each([
  ["h2", ["h2"]],
  ["http/1.1", ["http/1.1"]],
  ["http/1.1", ["h2", "http/1.1"]],
])("agrees on %s with who offers %j", async (agreed, ALPNProtocols) => {
  const { port } = await listen();

  expect((await handshake(port, { ALPNProtocols })).alpnProtocol).toBe(agreed);
});

test("goes by the first bytes with clients that speak no ALPN", async () => {
  const { port } = await listen();
  const one = await handshake(port);
  const two = await handshake(port);

  for (const byte of "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nab") one.write(byte);
  two.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");

  expect(String((await once(one, "data"))[0])).toContain("POST 2");
  // A SETTINGS frame: type 4 in the fourth byte.
  expect(((await once(two, "data"))[0] as Buffer)[3]).toBe(4);
});

test("a client that offers only what is too old is sent away", async () => {
  const { port } = await listen();

  await expect(
    handshake(port, { maxVersion: "TLSv1.1", minVersion: "TLSv1", ciphers: "ALL:@SECLEVEL=0" }),
  ).rejects.toThrow(/version|alert|reset/i);
});

test("one that speaks without TLS is told what to do", async () => {
  const { port } = await listen();

  const [response] = await once(getHttp({ port, host: "127.0.0.1", agent: false }), "response");
  let text = "";
  for await (const chunk of response) text += String(chunk);

  expect(response.statusCode).toBe(400);
  expect(text).toContain("https://");
});

test.each([
  ["says nothing", undefined],
  ["begins a handshake and leaves it", Buffer.from([0x16, 3, 1])],
])("closes a connection that %s", async (_, bytes) => {
  const { port } = await listen(undefined, 30);
  const socket = connectTcp({ port, host: "127.0.0.1" });
  if (bytes) socket.write(bytes);
  socket.resume();

  await once(socket, "close");
  expect(socket.destroyed).toBe(true);
});

test("garbage after a handshake's first byte ends that connection alone", async () => {
  const { port } = await listen();
  const bad = connectTcp({ port, host: "127.0.0.1" });
  bad.on("error", () => {});
  bad.write(Buffer.concat([Buffer.from([0x16]), Buffer.alloc(500, 0x41)]));
  bad.resume();
  await once(bad, "close");

  expect(await post(port, Buffer.alloc(10))).toBe("POST 10");
});

test("stops with handshakes half done", async () => {
  const { port } = await listen();
  const socket = connectTcp({ port, host: "127.0.0.1" });
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(Buffer.from([0x16, 3, 1, 2]));
  await post(port, Buffer.alloc(1));

  const closed = once(socket, "close");
  socket.resume();
  await cleanups.pop()?.();

  await closed;
  expect(socket.destroyed).toBe(true);
});

test("new connections see a new certificate; old ones go on", async () => {
  const other = await testCertificate(directory, "renewed");
  let now = identity;
  const { port } = await listen(() => now);
  const before = await handshake(port, { ALPNProtocols: ["http/1.1"] });

  now = await identityOf(other);
  const after = await handshake(port, { ca: other.pem });
  before.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");

  expect(after.getPeerCertificate().subject.CN).toBe("renewed");
  expect(String((await once(before, "data"))[0])).toContain("200 OK");
});

test("a server that nobody signed is not trusted, and it is said how to", async () => {
  const { port } = await listen();
  const channel = new GrpcChannel({ url: `https://127.0.0.1:${port}` });
  cleanups.push(() => channel.stop());

  await expect(channel.unary(Conformance.method.unary, {})).rejects.toThrow("GRANGE_CA");
});

test.each([["--http1.1"], ["--http2"]])("curl %s is answered", needs(curl), async (version) => {
  const { port } = await listen();
  const url = `https://127.0.0.1:${port}/`;
  const args = ["--silent", version, "--cacert", certificate.cert, "--data", "abc", url];

  const { stdout } = await promisify(execFile)("curl", [
    "--write-out",
    " %{http_version}",
    ...args,
  ]);

  // With both at hand we choose HTTP/1.1: HTTP/2 is gRPC's here.
  expect(stdout).toBe("POST 3 1.1");
});
