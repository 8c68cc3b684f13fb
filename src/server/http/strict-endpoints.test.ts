import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { readServerConfig } from "../config.ts";
import type { AllHandlers } from "../handlers/all-handlers.ts";
import { alwaysReady } from "../health/always-ready.fixture.ts";
import { type RunningServer, startServer } from "../start-server.ts";
import type { Farm } from "./farm.ts";
import { httpApp } from "./http-app.ts";

const logger = pino({ level: "silent" });
const databaseUrl = await freshDatabase();
let dataDir: string;
let server: RunningServer;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-strict-"));
  server = await startServer(readServerConfig({ dataDir, databaseUrl, port: 0 }, {}), logger);
});
afterAll(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true });
});

/** Routes whose bodies do not have a shape of Grange. */
const others = new Set([
  // The bytes of a tarball.
  "PUT /api/v1/benchmarks/tarballs/:hash/:size",
  // GitHub's own events.
  "POST /forge/:kind/webhooks",
]);

/** All endpoints of the application that change data. Handlers are not called. */
const endpoints = httpApp({
  readiness: alwaysReady,
  farm: {} as Farm,
  handlers: {} as AllHandlers,
  logger,
  webDir: undefined,
  host: "127.0.0.1",
})
  .routes.filter(({ method, path }) => !["GET", "ALL"].includes(method) && !path.endsWith("*"))
  .map(({ method, path }) => `${method} ${path}`);

test("endpoints are found", () => {
  expect(endpoints).toContain("POST /api/v1/graphs");
  expect(new Set(endpoints).size).toBeGreaterThan(60);
  for (const other of others) expect(endpoints).toContain(other);
});

test.each([...new Set(endpoints)].filter((endpoint) => !others.has(endpoint)))(
  "%s refuses a key that it does not know, and names it",
  async (endpoint) => {
    const [method = "", path = ""] = endpoint.split(" ");
    // A number matches all patterns: names, ids, sizes.
    const url = new URL(path.replaceAll(/:[a-z]+(\{[^}]*\})?/gi, "1"), server.url);

    const response = await fetch(url, {
      method,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ nobodyKnowsThis: 1 }),
    });

    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect({ status: response.status, ...error }).toMatchObject({
      status: 400,
      code: "invalid_argument",
      message: expect.stringContaining('Unrecognized key: "nobodyKnowsThis"'),
    });
  },
);

/** All endpoints of the application that read data. */
const read = httpApp({
  readiness: alwaysReady,
  farm: {} as Farm,
  handlers: {} as AllHandlers,
  logger,
  webDir: undefined,
  host: "127.0.0.1",
})
  .routes.filter(({ method, path }) => method === "GET" && path.startsWith("/api/v1/"))
  .map(({ path }) => path)
  .filter((path) => !path.endsWith("*"));

/** Returns the answer to a GET without its body, because some bodies never end. */
async function answerOf(url: URL): Promise<{ status: number; text: string }> {
  const leave = new AbortController();
  const response = await fetch(url, { signal: leave.signal });
  const text = response.ok ? "" : await response.text();
  leave.abort();
  return { status: response.status, text };
}

test("every GET that is answered refuses a query parameter that it does not know, and names it", async () => {
  const answered: string[] = [];
  for (const path of new Set(read)) {
    const url = new URL(path.replaceAll(/:[a-z]+(\{[^}]*\})?/gi, "1"), server.url);
    const plain = await answerOf(url);
    url.searchParams.set("nobodyKnowsThis", "1");
    const { status, text } = await answerOf(url);
    // Endpoints of the table check the query before they look for the named object.
    if (status === 400 && text.includes('\\"nobodyKnowsThis\\"')) {
      answered.push(path);
      continue;
    }
    const isAnswered = plain.status < 400;
    if (isAnswered) answered.push(path);
    // A refusal by the route itself comes first.
    const message = isAnswered ? '\\"nobodyKnowsThis\\"' : "";
    expect({ path, status, text }).toEqual({
      path,
      status: isAnswered ? 400 : plain.status,
      text: expect.stringContaining(message),
    });
  }
  expect(answered.length).toBeGreaterThan(25);
  expect(answered).toContain("/api/v1/events");
});

test("what a GET knows is named to who misspells it, and taken as ever from who does not", async () => {
  const of = (path: string) => answerOf(new URL(path, server.url));

  expect(await of("/api/v1/graphs?limt=5")).toEqual({
    status: 400,
    text: expect.stringContaining("known here: before, commit, limit, repository"),
  });
  expect(await of("/api/v1/server?x=1")).toMatchObject({
    text: expect.stringContaining("there are none here"),
  });
  expect(await of("/api/v1/graphs?limit=5&repository=none")).toMatchObject({ status: 200 });
  expect(await of("/api/v1/graphs?limit=none&limt=1")).toMatchObject({
    status: 400,
    text: expect.stringContaining("limit"),
  });
});
