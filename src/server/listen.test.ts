import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { Hono } from "hono";
import { pino } from "pino";
import { expect, test } from "vitest";
import { isAnotherOwnerWaiting } from "#scheduling/take-turns.ts";
import { listen } from "./listen.ts";

function listenFor(app: Hono) {
  return listen({
    graceMs: 100,
    host: "127.0.0.1",
    port: 0,
    methods: [],
    logger: pino({ level: "silent" }),
    app: () => app,
    caches: () => false,
  });
}

function answerOf(port: number, request: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.end(request);
  return text(socket);
}

test("a request of HTTP/1.0 needs no Host, as health checks of HAProxy; one of HTTP/1.1 does", async () => {
  const listening = await listenFor(new Hono().get("/readyz", (c) => c.text("ready")));
  try {
    expect(await answerOf(listening.port, "GET /readyz HTTP/1.0\r\n\r\n")).toMatch(
      /^HTTP\/1\.1 200 .*ready$/s,
    );
    expect(await answerOf(listening.port, "GET /readyz HTTP/1.1\r\n\r\n")).toMatch(
      /^HTTP\/1\.1 400 /,
    );
  } finally {
    await listening.stop();
  }
});

test("a request that is no HTTP, or has too large headers, is answered as the API answers failures", async () => {
  const listening = await listenFor(new Hono());
  const answerTo = (bytes: string) => answerOf(listening.port, bytes);
  try {
    const long = await answerTo(`GET /?${"x".repeat(100_000)} HTTP/1.1\r\nhost: a\r\n\r\n`);
    expect(long).toMatch(/^HTTP\/1\.1 431 .*\r\ncontent-type: application\/json\r\n/);
    expect(long).toMatch(
      /\{"error":\{"code":"invalid_argument","message":"the address and the headers/,
    );
    expect(await answerTo("nonsense\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 .*"message":"this is no/s);
  } finally {
    await listening.stop();
  }
});

test("what is long rests for a small request, and not for one with a large body", async () => {
  const doesRest: boolean[] = [];
  const app = new Hono().all("/", (c) => {
    doesRest.push(isAnotherOwnerWaiting("somebody with an upload"));
    return c.text("");
  });
  const listening = await listenFor(app);
  const url = `http://127.0.0.1:${listening.port}/`;
  try {
    // Waiters of earlier tests.
    await expect.poll(() => isAnotherOwnerWaiting("somebody with an upload")).toBe(false);
    await fetch(url, { method: "PUT", body: new Uint8Array(1_048_576) });
    await fetch(url);
  } finally {
    await listening.stop();
  }
  expect(doesRest).toEqual([false, true]);
});
