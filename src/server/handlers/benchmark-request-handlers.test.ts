import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { CreatedToken } from "#api/access.ts";
import { BenchmarkStatus, PushedSuite, SuiteDetail, Suites } from "#api/benchmark-history.ts";
import { Artifacts, RequestDetail, Requests, SubmittedRequest } from "#api/benchmark-request.ts";
import { Failure } from "#api/failure.ts";
import type { Db } from "#db/db.ts";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { aSuite } from "#perf/perf.fixture.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { readServerConfig } from "../config.ts";
import { type RunningServer, startServer } from "../start-server.ts";

const databaseUrl = await freshDatabase();
let dataDir: string;
let db: Db;
let server: RunningServer;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-requests-"));
  db = openPostgres({ url: databaseUrl, poolSize: 1 });
  const config = readServerConfig({ dataDir, databaseUrl, port: 0, host: "127.0.0.1" }, {});
  server = await startServer(config, pino({ level: "silent" }));
});
afterAll(async () => {
  await server.stop();
  await db.close();
  await rm(dataDir, { recursive: true });
});

async function send(method: string, path: string, body?: unknown, token?: string) {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as unknown };
}
const get = async (path: string) => (await send("GET", path)).body;

const suite = aSuite({
  backends: { js: { tool: ["tsc"] }, native: { default: false, tool: ["tsgo"] } },
});
const bytes = Buffer.from("a compiler of our own");
const digest = `${createHash("sha256").update(bytes).digest("hex")}/${bytes.length}`;
const upload = (name: string) =>
  fetch(`${server.url}/api/v1/benchmarks/tarballs/${name}`, { method: "PUT", body: bytes });

describe("a suite", () => {
  test("is pushed once, and told with its counts", async () => {
    const definition = suite;

    const pushed = await send("PUT", "/benchmarks/suites/demo", { definition });
    const again = await send("PUT", "/benchmarks/suites/demo", { definition });

    expect(PushedSuite.parse(pushed.body).changed).toBe(true);
    expect(PushedSuite.parse(again.body).changed).toBe(false);
    const { suites } = Suites.parse(await get("/benchmarks/suites"));
    expect(suites).toMatchObject([{ name: "demo", artifacts: 0, measured: 0 }]);
    expect(SuiteDetail.parse(await get("/benchmarks/suites/demo")).definition).toEqual(definition);
  });

  test.each([
    { title: "a definition of another", path: "else", definition: suite },
    { title: "what is no definition", path: "demo", definition: { suite: "demo" } },
  ])("is refused as $title", async ({ path, definition }) => {
    const { status, body } = await send("PUT", `/benchmarks/suites/${path}`, { definition });

    expect(status).toBe(400);
    Failure.parse(body);
  });
});

describe("a request", () => {
  test("of a tarball goes from its upload to its cancellation", async () => {
    await send("PUT", "/benchmarks/suites/demo", { definition: suite });
    const wanted = { suite: "demo", artifact: "mine", tarballs: { js: digest }, pr: 7 };
    expect((await send("POST", "/benchmarks/requests", wanted)).status).toBe(409);
    expect((await upload(digest)).status).toBe(200);

    const created = await send("POST", "/benchmarks/requests", wanted);
    const again = await send("POST", "/benchmarks/requests", wanted);

    expect(created.status).toBe(201);
    const { request } = SubmittedRequest.parse(created.body);
    expect(SubmittedRequest.parse(again.body)).toMatchObject({
      outcome: "nothing-missing",
      request: { id: request.id },
    });
    expect(Artifacts.parse(await get("/benchmarks/artifacts?suite=demo"))).toMatchObject({
      artifacts: [{ tag: "mine", backends: ["js"] }],
      next: null,
    });
    expect(Requests.parse(await get("/benchmarks/requests")).requests).toHaveLength(1);
    expect(RequestDetail.parse(await get("/benchmarks/requests/latest")).id).toBe(request.id);
    const cancelled = await send(
      "POST",
      `/benchmarks/requests/${request.id.slice(0, 8)}/cancel`,
      {},
    );
    expect(RequestDetail.parse(cancelled.body)).toMatchObject({
      state: "cancelled",
      endedBy: "anyone",
    });
    const retried = await send("POST", `/benchmarks/requests/${request.id}/retry`, {});
    expect(retried.status).toBe(201);
    BenchmarkStatus.parse(await get("/benchmarks/status"));
  });

  test("leaves a line in the audit with who asked", async () => {
    const rows = await db.many(
      z.object({ actor: z.string(), what: z.string() }),
      sql`
        select distinct actor, detail ->> 'what' as what from audit_entry where verb = 'benchmark' order by what
      `,
    );

    expect(rows).toEqual(
      [
        "ask again for what a request did not get",
        "ask for an artifact to be measured",
        "cancel a request",
        "push a suite",
      ].map((what) => ({ actor: "anyone", what })),
    );
  });

  test.each([
    { path: "/benchmarks/requests/ffffffff", status: 404 },
    { path: "/benchmarks/requests/%25", status: 404 },
    { path: "/benchmarks/requests?limit=0", status: 400 },
    { path: "/benchmarks/requests?state=gone", status: 400 },
    { path: "/benchmarks/requests?before=1", status: 400 },
    { path: "/benchmarks/artifacts", status: 400 },
    { path: "/benchmarks/artifacts?suite=none", status: 404 },
    { path: "/benchmarks/suites/none", status: 404 },
    { path: `/benchmarks/suites/${encodeURIComponent("../x")}`, status: 400 },
  ])("$path is answered with $status", async ({ path, status }) => {
    expect((await send("GET", path)).status).toBe(status);
  });

  test("a tarball under another's name is refused", async () => {
    const { status } = await upload(`${"0".repeat(64)}/${bytes.length}`);

    expect(status).toBe(400);
    expect((await upload("nonsense/1")).status).toBe(400);
  });
});

test("where there are rules, asking and pushing need the right", async () => {
  const { token } = CreatedToken.parse((await send("POST", "/tokens", { principal: "root" })).body);
  await send("POST", "/grants", { principal: "root", verb: "*", top: true });
  await send("POST", "/grants/remove", { principal: "anyone", verb: "*" }, token);

  for (const [method, path, body] of [
    ["PUT", "/benchmarks/suites/demo", { definition: suite }],
    ["POST", "/benchmarks/requests", { suite: "demo", artifact: "mine" }],
    ["POST", "/benchmarks/requests/latest/cancel", {}],
    ["POST", "/benchmarks/requests/latest/retry", {}],
    ["POST", "/benchmarks/requests/latest/artifacts-ready", {}],
  ] as const) {
    expect([path, (await send(method, path, body)).status]).toEqual([path, 403]);
  }
  expect((await upload(digest)).status).toBe(403);
  expect((await send("GET", "/benchmarks/status")).status).toBe(200);
});
