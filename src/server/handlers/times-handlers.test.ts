import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Search, SearchDetail, StartedSearch } from "#api/search.ts";
import { MetricValue, Times } from "#api/times.ts";
import { testRepository } from "#git/repository.fixture.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { readServerConfig } from "../config.ts";
import { metricTable } from "../metric-table.ts";
import { type RunningServer, startServer } from "../start-server.ts";

const databaseUrl = await freshDatabase();
let dataDir: string;
let server: RunningServer;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-times-"));
  const config = readServerConfig({ dataDir, databaseUrl, port: 0, host: "127.0.0.1" }, {});
  server = await startServer(config, pino({ level: "silent" }));
});
afterAll(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true });
});

async function send(method: string, path: string, body?: unknown) {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as unknown };
}

describe("times", () => {
  test("of a farm on which nothing ran are empty, and whole", async () => {
    const { body } = await send("GET", "/times?group=pool&window=12h");

    const times = Times.parse(body);
    expect(times).toMatchObject({ window: { seconds: 43_200 }, groups: [], group: "pool" });
    expect(times.record?.metric.name).toBe("waiting");
  });

  test.each(["window=soon", "window=1s", "group=moon"])("are not told of %s", async (query) => {
    expect((await send("GET", `/times?${query}`)).status).toBe(400);
  });
});

test("the metric of record is a setting", async () => {
  const metric = {
    measure: "run",
    figure: { kind: "percentile", percentile: 90 },
    group: "kind",
    filter: "kind:test",
    ofRecord: true,
  };

  const set = await send("PUT", "/metrics/slow-tests", metric);

  expect(MetricValue.parse(set.body).metric).toMatchObject({ ...metric, name: "slow-tests" });
  const record = Times.parse((await send("GET", "/times")).body).record;
  expect(record?.metric.name).toBe("slow-tests");
  expect((await send("GET", "/metrics/nonesuch")).status).toBe(404);
  expect((await send("PUT", "/metrics/Bad%20Name", metric)).status).toBe(400);
});

test.each([
  { accept: "text/plain", type: "text/plain; version=0.0.4", last: "nodejs_heap" },
  { accept: "application/openmetrics-text", type: "application/openmetrics-text", last: "# EOF" },
])("a scraper that accepts $accept gets it", async ({ accept, type, last }) => {
  const response = await fetch(`${server.url}/metrics`, { headers: { accept } });
  const text = await response.text();

  expect(response.headers.get("content-type")).toContain(type);
  expect(text.trimEnd().split("\n").at(-1)).toContain(last);
  expect(text).toContain('grange_jobs{state="ready"} 0');
  expect(text).toContain('grange_run_wait_seconds_bucket{le="900"} 0');
  const named = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, kind]) => [name, kind]);
  expect(named).toEqual(Object.entries(metricTable).map(([name, { kind }]) => [name, kind]));
});

test("a search is foretold, begun, looked at and cancelled", async () => {
  const repository = testRepository(dataDir);
  const commits = [0, 1, 2, 3].map((i) => {
    repository.write({ ".grange/jobs.yml": `version: 1\njobs:\n  a: {commands: "x ${i}"}` });
    return repository.commit(`Change ${i}`);
  });
  const asked = {
    kind: "bisect",
    repository: repository.path,
    selection: "a",
    good: commits[0],
    bad: commits[3],
  };

  const foretold = StartedSearch.parse(
    (await send("POST", "/searches", { ...asked, dryRun: true })).body,
  );
  const begun = StartedSearch.parse((await send("POST", "/searches", asked)).body);
  const id = begun.search?.id ?? "";
  const detail = SearchDetail.parse((await send("GET", `/searches/${id}?limit=2`)).body);
  const cancelled = Search.parse((await send("POST", `/searches/${id}/cancel`, {})).body);

  expect(foretold).toMatchObject({ search: null, forecast: { commits: 3, rounds: 2, probes: 2 } });
  expect(detail.commitList.map(({ commit }) => commit)).toEqual([commits[3], commits[2]]);
  expect(detail.next).toBe(2);
  expect(cancelled.state).toBe("cancelled");
});
