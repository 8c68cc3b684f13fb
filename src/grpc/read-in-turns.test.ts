import { once } from "node:events";
import {
  type ClientHttp2Session,
  connect,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { letTimePass, letTimeStandStill } from "#scheduling/still-time.fixture.ts";
import { shortWork } from "#scheduling/take-turns.ts";
import { readInTurns } from "./read-in-turns.ts";
import { ourSettings, widenSession } from "./window-sizes.ts";

const sentBytes = 4 * 1_048_576;

let server: Http2Server;
let client: ClientHttp2Session;
let session: ServerHttp2Session;
let receivedBytes: number;

beforeEach(async () => {
  receivedBytes = 0;
  server = createServer({ settings: ourSettings });
  server.on("session", (newest) => {
    session = newest;
    session.on("error", () => {});
    widenSession(session);
    const onData = readInTurns(session);
    session.on("stream", (stream) => {
      stream.on("data", (chunk: Uint8Array) => {
        receivedBytes += chunk.byteLength;
        onData();
      });
      stream.on("error", () => {});
      stream.on("end", () => {
        if (stream.destroyed) return;
        stream.respond({ ":status": 200 });
        stream.end(Buffer.alloc(100));
      });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client.on("error", () => {});
  await once(client, "remoteSettings");
  letTimeStandStill();
});

afterEach(async () => {
  letTimePass();
  client.destroy();
  server.close();
  await once(server, "close");
});

/** Resolves when the answer has come. */
async function sent(): Promise<void> {
  const call = client.request({ ":method": "POST" });
  call.end(Buffer.alloc(sentBytes));
  call.resume();
  await once(call, "end");
}

async function untilReceived(bytes: number): Promise<void> {
  while (receivedBytes < bytes) await setImmediate();
}

/** Far more rounds of the event loop than it takes to receive all that is sent here. */
async function manySteps(): Promise<void> {
  for (let step = 0; step < 1_000; step++) await setImmediate();
}

test("reads little of a connection while somebody else has something short in hand, and all of it in time", async () => {
  const over = shortWork("somebody else");
  const all = sent();
  await untilReceived(65_536);
  await manySteps();
  expect(receivedBytes).toBeLessThan(sentBytes / 4);

  over();
  await vi.advanceTimersByTimeAsync(10);
  await all;
  expect(receivedBytes).toBe(sentBytes);
});

test("reads on, after rests, however long others have something short in hand", async () => {
  let isOver = false;
  const all = sent().then(() => {
    isOver = true;
  });
  while (!isOver) {
    const over = shortWork("somebody else");
    await vi.advanceTimersByTimeAsync(1);
    await setImmediate();
    over();
  }
  await all;
  expect(receivedBytes).toBe(sentBytes);
});

test("reads a connection without rest where nobody else waits", async () => {
  const [call] = await Promise.all([once(server, "stream"), sent()]);
  expect(call).toBeDefined();
  expect(receivedBytes).toBe(sentBytes);
});

test("a connection that ends while it is not read is closed here, too", async () => {
  const over = shortWork("somebody else");
  const closed = once(session, "close");
  const call = client.request({ ":method": "POST" });
  call.on("error", () => {});
  call.end(Buffer.alloc(sentBytes));
  await untilReceived(65_536);
  client.destroy();
  over();
  await vi.advanceTimersByTimeAsync(10);
  await closed;
  expect(session.destroyed).toBe(true);
});
