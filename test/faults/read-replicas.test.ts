import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Endpoint } from "#api/endpoint.ts";
import { allEndpoints } from "#api/endpoints/all-endpoints.ts";
import { readServerConfig } from "#server/config.ts";
import { type RunningServer, startServer } from "#server/start-server.ts";
import { databaseOnPort, userOnPort } from "../support/postgres-on-port.ts";
import { startReplicatedPostgres } from "../support/replicated-postgres.ts";
import { sampleRepository } from "../support/sample-repository.ts";

let database: Awaited<ReturnType<typeof startReplicatedPostgres>>;
let dataDir: string;
let server: RunningServer;

beforeAll(async () => {
  // A standby on which no commit waits may be behind, and may be gone.
  database = await startReplicatedPostgres({ isSynchronous: false });
  const [one, two] = database.addresses.map(
    (address) => `postgres://${userOnPort}@${address}/${databaseOnPort}`,
  );
  dataDir = await mkdtemp(join(tmpdir(), "grange-replicas-"));
  const config = readServerConfig(
    { dataDir, databaseUrl: one, databaseReadUrl: two, port: 0, host: "127.0.0.1" },
    {},
  );
  server = await startServer(config, pino({ level: "silent" }));
});

afterAll(async () => {
  await server?.stop();
  await database?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

interface Sent {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

async function ask(path: string, { method = "GET", body, headers = {} }: Sent = {}) {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** A client that accepts answers that lack the changes of the last seconds. */
const accepting = (seconds: number) => ({ headers: { "cache-control": `max-stale=${seconds}` } });

const metric = (percentile: number): Sent => ({
  method: "PUT",
  body: { measure: "run", figure: { kind: "percentile", percentile }, group: "kind" },
});

const percentileOf = ({ body }: { readonly body: Record<string, unknown> }) =>
  JSON.stringify(body["metric"]).match(/"percentile":(\d+)/)?.[1];

/** Waits until the standby has all that was committed before. */
async function untilReplayed(): Promise<void> {
  const since = performance.now();
  for (;;) {
    const [seen] = await server.services.replicas.look(5_000);
    const standing = seen?.standing;
    if (standing?.kind === "replaying" && (standing.hasAllUntilMs ?? 0) > since) return;
    await delay(20);
  }
}

test("an old answer comes from the standby if the client accepts one, and else never", async () => {
  await ask("/metrics/slow", metric(50));
  await untilReplayed();
  await database.pauseReplay();
  await ask("/metrics/slow", metric(90));

  const before = { ...server.services.replicaReads };
  expect(percentileOf(await ask("/metrics/slow", accepting(3_600)))).toBe("50");
  expect(server.services.replicaReads).toEqual({ ...before, replica: before.replica + 1 });

  expect(percentileOf(await ask("/metrics/slow"))).toBe("90");
  expect(
    percentileOf(await ask("/metrics/slow", { headers: { "cache-control": "no-cache" } })),
  ).toBe("90");
  expect(server.services.replicaReads.replica).toBe(before.replica + 1);
});

test("a standby that is further behind than the client accepts is not read", async () => {
  await database.pauseReplay();
  await ask("/metrics/slow", metric(75));
  // Before that, an answer without the change is recent enough.
  await delay(1_100);

  expect(percentileOf(await ask("/metrics/slow", accepting(1)))).toBe("75");
});

test("what a standby does not have yet is read from the primary", async () => {
  await database.pauseReplay();
  await ask("/metrics/new", metric(95));
  const { repeated } = server.services.replicaReads;

  expect(percentileOf(await ask("/metrics/new", accepting(3_600)))).toBe("95");

  expect(server.services.replicaReads.repeated).toBe(repeated + 1);
});

test("a token is judged by the primary", async () => {
  await database.resumeReplay();
  const { body } = await ask("/tokens", { method: "POST", body: { principal: "ada" } });
  const headers = { authorization: `Bearer ${String(body["token"])}`, ...accepting(3_600).headers };
  await untilReplayed();
  expect((await ask("/graphs", { headers })).status).toBe(200);
  await database.pauseReplay();

  const revoke = `/tokens/${String(body["id"])}/revoke`;
  expect((await ask(revoke, { method: "POST", body: {} })).status).toBe(200);

  expect((await ask("/graphs", { headers })).status).toBe(401);
});

test("a standby answers every endpoint that may lag", async () => {
  await database.resumeReplay();
  const repository = await sampleRepository({
    ".grange/farm.yml": "version: 1\njobs:\n  one:\n    inputs: []\n    commands: make\n",
  });
  const { body } = await ask("/graphs", {
    method: "POST",
    body: { repository: repository.path, rev: "main" },
  });
  const graph = String(body["id"]);
  const name = String((await ask(`/graphs/${graph}`)).body["repository"]);
  const pathOf: Readonly<Record<string, string>> = {
    graphPage: `/graphs/${graph}/page`,
    graphFailures: `/graphs/${graph}/failures`,
    commitGrid: `/commit-grid?repository=${name}`,
    jobTrends: `/job-trends?repository=${name}&by=week`,
    metric: "/metrics/slow",
    find: "/find?text=one",
    targetHistory: "/target-history?project=default&label=x",
    commitIndexes: "/granary/indexes?project=default",
    granarySavings: "/granary/savings?project=default",
  };
  // They read objects that only a build or a measuring machine makes.
  const left = new Set([
    "benchmarkSeries",
    "benchmarkNoise",
    "benchmarkGraphs",
    "benchmarkChangePoints",
    "invocation",
    "invocationActions",
    "invocationTiming",
    "invocationTrace",
    "invocationTargets",
    "invocationTests",
    "granaryBuild",
  ]);
  await untilReplayed();
  const before = { ...server.services.replicaReads };
  const lagging = Object.entries<Endpoint>(allEndpoints).filter(
    ([key, { mayLag }]) => mayLag === true && !left.has(key),
  );

  const statuses: [string, number][] = [];
  for (const [key, { path }] of lagging)
    statuses.push([key, (await ask(pathOf[key] ?? path, accepting(3_600))).status]);

  expect(statuses.filter(([, status]) => status !== 200)).toEqual([]);
  expect(server.services.replicaReads).toEqual({
    ...before,
    replica: before.replica + lagging.length,
  });
  await repository.remove();
});

test("only endpoints that read may lag", () => {
  const wrong = Object.entries<Endpoint>(allEndpoints).filter(
    ([, { mayLag, method, answer }]) =>
      mayLag === true && (method !== "GET" || answer.kind === "events"),
  );

  expect(wrong).toEqual([]);
});

test("without the standby, the primary answers, and the server says so and stays ready", async () => {
  await ask("/metrics/slow", metric(99));
  await untilReplayed();
  await database.killStandby();

  expect(percentileOf(await ask("/metrics/slow", accepting(3_600)))).toBe("99");

  await expect
    .poll(async () => (await (await fetch(`${server.url}/readyz`)).json()) as unknown, {
      timeout: 5_000,
    })
    .toMatchObject({
      ready: true,
      checks: expect.arrayContaining([
        { name: "replicas", ok: false, detail: "0 of 1 can be read" },
      ]),
    });
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toMatch(/^grange_replica_usable\{replica="127\.0\.0\.1:\d+"\} 0$/m);
  expect(percentileOf(await ask("/metrics/slow", accepting(3_600)))).toBe("99");
});
