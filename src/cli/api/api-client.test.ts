import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { graphEndpoints } from "#api/endpoints/graph-endpoints.ts";
import type { GraphDelta, GraphSummary, JobSummary } from "#api/graph.ts";
import { type ApiClient, apiClient } from "./api-client.ts";
import { ServerUnreachable } from "./api-failure.ts";

const undo: (() => void)[] = [];
afterEach(() => {
  for (const each of undo.splice(0)) each();
});

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

async function clientOf(handle: Handle): Promise<ApiClient> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  undo.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return apiClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

const at = "2026-01-01T00:00:00.000Z";
const graph: GraphSummary = {
  id: "g",
  repository: "r",
  project: "default",
  commit: "a".repeat(40),
  rev: "HEAD",
  subject: "s",
  author: "a",
  committedAt: at,
  catalog: "c",
  set: "g",
  setName: null,
  templates: null,
  customised: 0,
  idleMs: 0,
  parent: null,
  branch: "main",
  priority: 0,
  top: false,
  submittedBy: "anyone",
  state: "running",
  version: 1,
  jobs: 1,
  counts: { running: 1 },
  createdAt: at,
  finishedAt: null,
};
const job = (version: number): JobSummary => ({
  name: "j",
  kind: "command",
  state: "running",
  version,
  tags: {},
  runs: 1,
  cached: false,
  stale: false,
  customised: false,
  reason: null,
  readyAt: at,
  startedAt: at,
  finishedAt: null,
});
const event = (version: number): string => {
  const delta: GraphDelta = { graph: { ...graph, version }, jobs: [job(version)] };
  return `id: ${version}\ndata: ${JSON.stringify(delta)}\n\n`;
};

test("a stream that breaks off is gone on with where it stopped, and nothing comes twice", async () => {
  const resumedFrom: (string | undefined)[] = [];
  const client = await clientOf((request, response) => {
    resumedFrom.push(request.headers["last-event-id"] as string);
    if (resumedFrom.length === 1) {
      // The second event is incomplete, so it does not count as received.
      response.write(event(4));
      response.write(event(5).slice(0, 40), () => response.destroy());
    } else if (resumedFrom.length === 2) response.writeHead(503).end();
    else response.end(`${event(5)}event: end\ndata: {}\n\n`);
  });

  const versions: number[] = [];
  for await (const delta of client.followGraph("g", 3, new AbortController().signal)) {
    versions.push(delta.graph.version);
  }

  expect(versions).toEqual([4, 5]);
  expect(resumedFrom).toEqual(["3", "4", "4"]);
});

test("a stream that the server refuses is not asked for again", async () => {
  const client = await clientOf((_, response) => {
    response.writeHead(404).end('{"error":{"code":"not_found","message":"no such graph"}}');
  });

  const follow = async () => {
    for await (const _ of client.followGraph("g", 0, new AbortController().signal));
  };

  await expect(follow()).rejects.toThrow("no such graph");
});

test("a log that begins anew with another attempt says so", async () => {
  const client = await clientOf((_, response) => {
    response.end(
      'event: log\nid: 3\ndata: {"offset":0,"text":"one"}\n\n' +
        'event: restart\nid: 0\ndata: {"attempt":2}\n\n' +
        'event: log\nid: 3\ndata: {"offset":0,"text":"two"}\n\nevent: end\ndata: {}\n\n',
    );
  });

  const parts = [];
  const address = { graph: "g", job: "a/b", run: 1 };
  for await (const part of client.followLog(address, new AbortController().signal))
    parts.push(part);

  expect(parts).toEqual([
    { kind: "text", text: "one" },
    { kind: "restart", attempt: 2 },
    { kind: "text", text: "two" },
  ]);
});

test("the server's refusal comes with its code and with each problem's place", async () => {
  const problems = [{ file: ".grange/a.yml", line: 2, column: 1, message: "unknown key" }];
  const client = await clientOf((_, response) => {
    const error = { code: "invalid_argument", message: "bad definitions", problems };
    response.writeHead(400).end(JSON.stringify({ error }));
  });

  await expect(
    client.call(graphEndpoints.submitGraph, { body: { repository: "/r" } }),
  ).rejects.toMatchObject({
    code: "invalid_argument",
    message: "bad definitions",
    problems,
  });
});

test("something that is no Grange server is told apart", async () => {
  const client = await clientOf((_, response) => response.end("<html>hello</html>"));

  await expect(client.server()).rejects.toThrow(/Is it a Grange server/);
});

test("names go into the path whole", async () => {
  const paths: (string | undefined)[] = [];
  const client = await clientOf((request, response) => {
    paths.push(request.url);
    response.setHeader("x-next-offset", "9").setHeader("x-log-complete", "true").end("log");
  });

  const piece = await client.log({ graph: "latest", job: "a/b c?", run: 2 }, 6);

  expect(paths).toEqual(["/api/v1/graphs/latest/jobs/a%2Fb%20c%3F/runs/2/log?offset=6"]);
  expect(piece).toMatchObject({ nextOffset: 9, isComplete: true });
});

test("nobody there is a failure of its own", async () => {
  await expect(apiClient("http://127.0.0.1:1").server()).rejects.toThrow(ServerUnreachable);
});

/** Answers requests with these, one after the other; "break" ends the connection without an answer. */
async function answering(...answers: readonly ("break" | number)[]) {
  const seen: (string | undefined)[] = [];
  const client = await clientOf((request, response) => {
    const answer = answers[seen.length];
    seen.push(request.method);
    if (answer === "break") request.socket.destroy();
    else if (answer === undefined) response.end("[]");
    else response.writeHead(answer).end();
  });
  return { client, seen };
}

test("a read whose connection breaks, or that meets a server that stops, is sent again", async () => {
  const { client, seen } = await answering("break", 503, 502);

  expect(await client.get(z.array(z.string()), "/graphs")).toEqual([]);

  expect(seen).toEqual(["GET", "GET", "GET", "GET"]);
});

test("a write is sent again only when it has an id of the client", async () => {
  const withId = await answering("break");
  const without = await answering("break");

  await withId.client.post(z.array(z.string()), "/graphs", { id: "chosen", repository: "/r" });
  await expect(
    without.client.post(z.array(z.string()), "/graphs", { repository: "/r" }),
  ).rejects.toThrow(ServerUnreachable);

  expect([withId.seen.length, without.seen.length]).toEqual([2, 1]);
});

test("a read that is always refused ends with the reason", async () => {
  const { client, seen } = await answering(...Array.from({ length: 9 }, () => 503));

  await expect(client.get(z.array(z.string()), "/graphs")).rejects.toThrow(/answered 503/);

  expect(seen).toHaveLength(6);
});
