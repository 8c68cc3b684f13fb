import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { Hono } from "hono";
import { pino } from "pino";
import { expect, test } from "vitest";
import { isAnotherOwnerWaiting } from "#scheduling/take-turns.ts";
import { listen } from "./listen.ts";

test("a request that is no HTTP, or has too large headers, is answered as the API answers failures", async () => {
  const listening = await listen({
    graceMs: 100,
    host: "127.0.0.1",
    port: 0,
    methods: [],
    logger: pino({ level: "silent" }),
    app: () => new Hono(),
    caches: () => false,
  });
  const answerTo = async (bytes: string) => {
    const socket = connect(listening.port, "127.0.0.1");
    socket.end(bytes);
    return text(socket);
  };
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
  const listening = await listen({
    graceMs: 100,
    host: "127.0.0.1",
    port: 0,
    methods: [],
    logger: pino({ level: "silent" }),
    app: () => app,
    caches: () => false,
  });
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
