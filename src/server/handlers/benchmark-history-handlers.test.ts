import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { CreatedToken } from "#api/access.ts";
import { Comparison } from "#api/benchmark-comparison.ts";
import { ChangePointView, Series, SeriesGrid, SetBalance, Steps } from "#api/benchmark-history.ts";
import { Failure } from "#api/failure.ts";
import { CreatedShareLink, shareHeader } from "#api/share.ts";
import { caseKey } from "#core/test-case.ts";
import type { Db } from "#db/db.ts";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { aCase, aLine, storeLine } from "#perf/history/history.fixture.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { readServerConfig } from "../config.ts";
import { type RunningServer, startServer } from "../start-server.ts";

const databaseUrl = await freshDatabase();
let dataDir: string;
let db: Db;
let server: RunningServer;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-history-"));
  db = openPostgres({ url: databaseUrl, poolSize: 2 });
  await storeLine(db, await aLine(db, 3), [1_000, 1_000, 1_100]);
  const config = readServerConfig({ dataDir, databaseUrl, port: 0, host: "127.0.0.1" }, {});
  server = await startServer(config, pino({ level: "silent" }));
});
afterAll(async () => {
  await server.stop();
  await db.close();
  await rm(dataDir, { recursive: true });
});

type Init = Omit<RequestInit, "headers"> & { readonly headers?: Readonly<Record<string, string>> };
async function send(path: string, init: Init = {}) {
  return fetch(`${server.url}/api/v1${path}`, {
    ...init,
    headers: { "content-type": "application/json", ...init.headers },
  });
}
const get = async (path: string) => (await send(path)).json() as Promise<unknown>;
const named = (words: Readonly<Record<string, string>>) => new URLSearchParams(words).toString();

test("a comparison is answered with what it rests on, and not again to who has it", async () => {
  const first = await send("/benchmarks/compare?suite=demo");
  const etag = first.headers.get("etag") ?? "";

  expect(Comparison.parse(await first.json())).toMatchObject({
    before: { tag: "n2" },
    after: { tag: "n3" },
    metric: "instructions",
    cases: [{ before: 1_000, after: 1_100, verdict: "regressed" }],
  });
  expect(etag).toMatch(/^"[0-9a-f]{64}"$/);
  const again = await send("/benchmarks/compare?suite=demo", {
    headers: { "if-none-match": etag },
  });
  expect(again.status).toBe(304);
  expect(await again.text()).toBe("");
});

test("a share link opens one comparison, by one metric", async () => {
  const body = JSON.stringify({ suite: "demo", before: "n2", after: "n3" });
  const made = await send("/benchmarks/compare/shares", { method: "POST", body });
  const { token, object } = CreatedShareLink.parse(await made.json());
  const headers = { [shareHeader]: token };
  const opened = await send("/shared/comparison", { headers });
  const log = await send("/shared/log", { headers });
  const unknown = await send("/benchmarks/compare/shares", {
    method: "POST",
    body: JSON.stringify({ suite: "demo", before: "n2", after: "n9" }),
  });

  expect(object).toMatchObject({ kind: "comparison", before: "n2", metric: "instructions" });
  expect(Comparison.parse(await opened.json())).toMatchObject({
    before: { tag: "n2" },
    after: { tag: "n3" },
    cases: [{ before: 1_000, after: 1_100 }],
  });
  expect([log.status, unknown.status]).toEqual([409, 404]);
});

test("series, grids, steps and balances are told", async () => {
  const series = Series.parse(
    await get(
      `/benchmarks/series?${named({ suite: "demo", case: caseKey(aCase()), samples: "true" })}`,
    ),
  );
  const grid = SeriesGrid.parse(await get("/benchmarks/graphs?suite=demo&benchmark=alpha,beta"));
  const steps = Steps.parse(await get("/benchmarks/change-points?suite=demo&since=2026-01-01"));
  const balance = SetBalance.parse(
    await get("/benchmarks/sets/balance?suite=demo&target=linux-x64"),
  );

  expect(series.points.map(({ value, samples }) => [value, samples])).toEqual([
    [1_000, [1_000]],
    [1_000, [1_000]],
    [1_100, [1_100]],
  ]);
  expect(grid.series.map(({ values }) => values)).toEqual([[1_000, 1_000, 1_100]]);
  expect(steps.steps).toEqual([]);
  expect(balance.unknown).toEqual(["alpha", "beta", "gamma"]);
});

test.each([
  { path: "/benchmarks/compare?suite=none", status: 404, says: 'there is no suite "none"' },
  { path: "/benchmarks/compare", status: 400, says: "suite" },
  { path: "/benchmarks/compare?suite=demo&after=n9", status: 404, says: 'no artifact "n9"' },
  { path: "/benchmarks/series?suite=demo&case=alpha", status: 400, says: "is not a test case" },
  { path: "/benchmarks/graphs?suite=demo&limit=501", status: 400, says: "limit" },
  { path: "/benchmarks/graphs?suite=demo&from=yesterday", status: 400, says: "nor a date" },
  { path: "/benchmarks/change-points?suite=demo", status: 400, says: "since" },
  { path: "/benchmarks/requests/latest/report", status: 404, says: "no request has a report yet" },
  { path: "/benchmarks/requests/%00/report", status: 404, says: "there is no request" },
  {
    path: "/benchmarks/sets/balance?suite=demo&target=plan9",
    status: 404,
    says: 'no target "plan9"',
  },
])("$path is answered with $status and a sentence", async ({ path, status, says }) => {
  const response = await send(path);

  expect(response.status).toBe(status);
  expect(Failure.parse(await response.json()).error.message).toContain(says);
});

test("a step is accepted by who may, and the audit says by whom and why", async () => {
  const said = {
    suite: "demo",
    case: aCase(),
    metric: "instructions",
    fingerprint: "one",
    artifact: "n3",
    standing: "accepted",
    note: "checks more",
  };
  const body = JSON.stringify(said);

  const response = await send("/benchmarks/change-points", { method: "POST", body });

  expect(ChangePointView.parse(await response.json())).toMatchObject({
    artifact: "n3",
    before: "n2",
    standing: "accepted",
    note: "checks more",
  });
  const Entry = z.object({ verb: z.string(), reason: z.string().nullable(), standing: z.string() });
  expect(
    await db.many(
      Entry,
      sql`select verb, reason, detail ->> 'standing' as standing from audit_entry where detail ->> 'what' = 'say of a step'`,
    ),
  ).toEqual([{ verb: "benchmark", reason: "checks more", standing: "accepted" }]);

  const created = await send("/tokens", {
    method: "POST",
    body: JSON.stringify({ principal: "guest" }),
  });
  const { token } = CreatedToken.parse(await created.json());
  const refused = await send("/benchmarks/change-points", {
    method: "POST",
    body,
    headers: { authorization: `Bearer ${token}` },
  });
  expect(refused.status).toBe(403);
});
