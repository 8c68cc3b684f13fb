import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { expect, test } from "vitest";
import { apiClient } from "../api/api-client.ts";
import { earlyAnswer, firstLineOf } from "./early-answer.ts";
import { mcpServer } from "./mcp-server.ts";

const initialize = (protocolVersion: string, changed: object = {}) => ({
  jsonrpc: "2.0" as const,
  id: 7,
  method: "initialize",
  params: {
    protocolVersion,
    capabilities: { roots: { listChanged: true } },
    clientInfo: { name: "test", version: "1" },
    ...changed,
  },
});

test.each(["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"])(
  "the early answer for revision %s is that of the SDK",
  async (revision) => {
    const request = initialize(revision);
    const [client, wire] = InMemoryTransport.createLinkedPair();
    const answered = new Promise<JSONRPCMessage>((resolve) => {
      client.onmessage = resolve;
    });
    const api = apiClient("http://127.0.0.1:1", {});
    const serving = serveStdio(() => mcpServer(api, "1.2.3"), { transport: wire });
    await client.start();
    await client.send(request);

    const early = earlyAnswer(JSON.stringify(request), "1.2.3");

    expect({ jsonrpc: "2.0", ...early }).toEqual(await answered);
    await serving.close();
  },
);

test.each([
  { what: "another revision", line: JSON.stringify(initialize("2031-01-01")) },
  { what: "another method", line: JSON.stringify({ ...initialize("2025-11-25"), method: "ping" }) },
  {
    what: "no client",
    line: JSON.stringify(initialize("2025-11-25", { clientInfo: undefined })),
  },
  { what: "an id that is no id", line: JSON.stringify({ ...initialize("2025-11-25"), id: null }) },
  {
    what: "the envelope of a later revision",
    line: JSON.stringify(initialize("2025-11-25", { _meta: { "io.modelcontextprotocol/x": 1 } })),
  },
  { what: "no JSON", line: "{" },
  { what: "a list", line: "[]" },
])("$what is left to the SDK", ({ line }) => {
  expect(earlyAnswer(line, "1.2.3")).toBeUndefined();
});

const never = new Promise(() => {});

test("the first line is read across chunks, and everything stays in the stream", async () => {
  const stream = Readable.from([Buffer.from('{"a"'), Buffer.from(':1}\n{"b":2}\n')], {
    objectMode: false,
  });

  expect(await firstLineOf(stream, never)).toBe('{"a":1}');
  expect(await text(stream)).toBe('{"a":1}\n{"b":2}\n');
});

test("a stream that ends without a line, one that is too long, and a stop are no line", async () => {
  const ended = Readable.from([Buffer.from("{")], { objectMode: false });
  const long = Readable.from([Buffer.alloc(70_000, "x")], { objectMode: false });
  const silent = new Readable({ read() {} });

  expect(await firstLineOf(ended, never)).toBeUndefined();
  expect(await firstLineOf(long, never)).toBeUndefined();
  expect((await text(long)).length).toBe(70_000);
  expect(await firstLineOf(silent, Promise.resolve())).toBeUndefined();
});
