import { once } from "node:events";
import { createServer, request as requestOf, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { letTimePass, letTimeStandStill } from "#scheduling/still-time.fixture.ts";
import { shortWork } from "#scheduling/take-turns.ts";
import { bodyOf } from "./read-body.ts";

const sentBytes = 2 * 1_048_576;

let server: Server;
let port: number;
let readBytes: number;

beforeEach(async () => {
  readBytes = 0;
  server = createServer((request, response) => {
    void (async () => {
      const coming = { request, response, coming: { isAwaited: false } };
      for await (const chunk of bodyOf(coming, sentBytes)) readBytes += chunk.byteLength;
      response.end();
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ({ port } = server.address() as AddressInfo);
  letTimeStandStill();
});

afterEach(async () => {
  letTimePass();
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

/** Resolves when the answer has come. */
async function sent(): Promise<void> {
  const put = requestOf({ port, host: "127.0.0.1", method: "PUT", agent: false });
  put.end(Buffer.alloc(sentBytes));
  const [answer] = await once(put, "response");
  answer.resume();
}

test("a body is read by turns while somebody else has something short in hand, and whole in time", async () => {
  const over = shortWork("somebody else");
  const all = sent();
  while (readBytes === 0) await setImmediate();
  for (let step = 0; step < 1_000; step++) await setImmediate();
  expect(readBytes).toBeLessThan(sentBytes / 2);

  over();
  await vi.advanceTimersByTimeAsync(11);
  await all;
  expect(readBytes).toBe(sentBytes);
});
