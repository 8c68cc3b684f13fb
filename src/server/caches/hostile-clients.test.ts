import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { type ServedCaches, send, serveCaches } from "./caches.fixture.ts";

const db = await freshDb();
const mostEntryBytes = 1_000_000;
let served: ServedCaches;

beforeEach(async () => {
  served = await serveCaches(db, { idleMs: 300, mostEntryBytes });
});
afterEach(() => served.stop());
afterAll(() => db.close());

async function raw(text: string): Promise<Socket> {
  const socket = connect(Number(new URL(served.url).port), "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(text);
  return socket;
}

/** Reads everything until the other side ends the connection. */
async function restOf(socket: Socket): Promise<string> {
  const parts: Buffer[] = [];
  socket.on("data", (part) => parts.push(part));
  await once(socket, "close");
  return Buffer.concat(parts).toString("latin1");
}

const leftovers = () => readdir(join(served.directory, "temp"));
const put = (key: string, headers: string) =>
  `PUT /cache/p/gradle/${key} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}\r\n\r\n`;
const statusOf = async (key: string) =>
  (await send(served.url, "GET", `/cache/p/gradle/${key}`)).status;

describe("an upload that does not come to its end leaves nothing", () => {
  test("when the client leaves", async () => {
    const socket = await raw(put("left", "content-length: 900000"));
    socket.write(Buffer.alloc(600_000));
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    await once(socket, "close");

    expect(await statusOf("left")).toBe(404);
    await expect.poll(leftovers).toEqual([]);
  });

  test("when it stops sending: the connection is given up", async () => {
    const socket = await raw(put("silent", "content-length: 900000"));
    socket.write(Buffer.alloc(600_000));

    await restOf(socket);

    expect(await statusOf("silent")).toBe(404);
    await expect.poll(leftovers).toEqual([]);
  });

  test("when it ends its side early", async () => {
    const socket = await raw(put("short", "content-length: 900000"));
    socket.end(Buffer.alloc(600_000));

    await restOf(socket);

    expect(await statusOf("short")).toBe(404);
    await expect.poll(leftovers).toEqual([]);
  });
});

test("one that says too little is kept as it said, or not at all, and the rest is no request", async () => {
  const socket = await raw(`${put("long", "content-length: 4")}goodbye\r\n\r\n`);

  const answer = await restOf(socket);

  expect(answer).toContain("HTTP/1.1 400 ");
  const { status, body } = await send(served.url, "GET", "/cache/p/gradle/long");
  expect(status === 404 || body.toString() === "good").toBe(true);
});

test("a length and chunks at once are refused, since proxies disagree on them", async () => {
  const socket = await raw(put("both", "content-length: 4\r\ntransfer-encoding: chunked"));

  expect(await restOf(socket)).toMatch(/^HTTP\/1.1 400 /);
});

describe("too large", () => {
  test("is 413 before a byte has come, for who waits to be told", async () => {
    const socket = await raw(put("vast", `content-length: 9000000000\r\nexpect: 100-continue`));

    const answer = await restOf(socket);

    expect(answer).toMatch(/^HTTP\/1.1 413 /);
    expect(answer).not.toContain("100 Continue");
  });

  test.each([
    ["said so", {}],
    ["did not say so", { "transfer-encoding": "chunked" }],
  ])("is 413 for who %s, also when all is sent before an answer is read", async (_, headers) => {
    const body = Buffer.alloc(5_000_000);
    const answer = await send(served.url, "PUT", "/cache/p/gradle/large", { body, headers });

    expect(answer.status).toBe(413);
    expect(answer.body.toString()).toContain("GRANGE_CACHE_ENTRY_BYTES");
    expect(await leftovers()).toEqual([]);
  });

  test("is 403 for Nx, when all of it has come", async () => {
    const body = Buffer.alloc(70_000_000);
    const answer = await send(served.url, "PUT", "/cache/p/nx/v1/cache/1", { body });

    expect(answer.status).toBe(403);
  });

  test("is what a question is, beyond a mebibyte", async () => {
    const body = JSON.stringify({ hashes: ["a".repeat(1_100_000)] });
    const answer = await send(served.url, "POST", "/cache/p/turborepo/v8/artifacts", { body });

    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.body.toString()).error.code).toBe("out_of_range");
  });
});

test("who waits to be told gets to send", async () => {
  const socket = await raw(
    put("asked", "content-length: 4\r\nconnection: close\r\nexpect: 100-continue"),
  );
  const [told] = (await once(socket, "data")) as [Buffer];
  socket.write("good");

  expect(told.toString()).toMatch(/^HTTP\/1.1 100 Continue/);
  expect(await restOf(socket)).toMatch(/^HTTP\/1.1 200 /);
});

test("a connection serves many requests, one after the other", async () => {
  const get = "GET /cache/p/gradle/none HTTP/1.1\r\nhost: 127.0.0.1\r\n";
  const socket = await raw(`${`${get}\r\n`.repeat(19)}${get}connection: close\r\n\r\n`);

  expect((await restOf(socket)).match(/HTTP\/1.1 404 /g)).toHaveLength(20);
});

test("a reader that leaves or dawdles is given up, and its file is closed", async () => {
  const value = Buffer.alloc(900_000, 1);
  await send(served.url, "PUT", "/cache/p/gradle/slow", { body: value });
  const before = (await readdir("/proc/self/fd")).length;

  const readers = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const many = "GET /cache/p/gradle/slow HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".repeat(20);
      const socket = await raw(many);
      socket.pause();
      return socket;
    }),
  );
  readers.slice(0, 5).forEach((socket) => socket.destroy());

  await expect.poll(async () => (await readdir("/proc/self/fd")).length).toBeLessThan(before + 12);
  for (const socket of readers) socket.destroy();
});

test.each([
  ["GET", "/cache/p/gradle/..%2f..%2fetc%2fpasswd"],
  ["GET", "/cache/p/gradle/../../../etc/passwd"],
  ["PUT", "/cache/p/gradle/a%00b"],
  ["PUT", `/cache/p/sccache/${"a/".repeat(100)}b`],
  ["PUT", "/cache/../gradle/a"],
  ["PUT", "/cache/a%20b/gradle/a"],
  ["PUT", `/cache/${"p".repeat(129)}/gradle/a`],
  ["PUT", "/cache/p/gradle/a?%"],
  ["GET", "/cache/"],
])("%s %s is a question that cannot be answered", async (method, path) => {
  const { status } = await send(served.url, method, path, { body: "x" });

  expect([400, 404]).toContain(path.includes("?") ? 400 : status);
});

test("requests for other hosts are refused, as after DNS rebinding", async () => {
  const headers = { host: "farm.evil.example" };
  const { status } = await send(served.url, "GET", "/cache/p/gradle/a", { headers });

  expect(status).toBe(403);
});

test("no answer lets a page of elsewhere read", async () => {
  const preflight = await send(served.url, "OPTIONS", "/cache/p/turborepo/v8/artifacts/a", {
    headers: { origin: "https://evil.example", "access-control-request-method": "PUT" },
  });

  expect(preflight.headers["access-control-allow-headers"]).toMatch(/Authorization/);
  expect(preflight.headers["access-control-allow-origin"]).toBeUndefined();
});
