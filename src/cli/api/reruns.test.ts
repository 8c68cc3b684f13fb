import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { graphEndpoints } from "#api/endpoints/graph-endpoints.ts";
import { rerunEndpoints } from "#api/endpoints/rerun-endpoints.ts";
import { testRepository } from "#git/repository.fixture.ts";
import { readServerConfig } from "#server/config.ts";
import { type RunningServer, startServer } from "#server/start-server.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { type ApiClient, apiClient } from "./api-client.ts";

const databaseUrl = await freshDatabase();
let dataDir: string;
let server: RunningServer;
let api: ApiClient;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-reruns-"));
  const config = readServerConfig({ dataDir, databaseUrl, port: 0, pricePerWorkerMinute: 2 }, {});
  server = await startServer(config, pino({ level: "silent" }));
  api = apiClient(server.url);
});
afterAll(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true });
});

/** Jobs that need no machine: `flaky` fails the first time; `after` needs it. */
const definitions = [
  "version: 1",
  "jobs:",
  "  flaky: {kind: dummy, dummy: {outcomes: [failed, succeeded]}, tags: {suite: unit}}",
  "  after: {kind: dummy, needs: [flaky]}",
  "  sign-off: {kind: breakpoint}",
].join("\n");

async function submitted(): Promise<string> {
  const repository = testRepository(dataDir);
  repository.write({ ".grange/farm.yml": definitions });
  repository.commit("Begin");
  return (await api.call(graphEndpoints.submitGraph, { body: { repository: repository.path } })).id;
}

/** Waits until a job is in a state. */
async function until(graph: string, job: string, state: string): Promise<void> {
  const enough = new AbortController();
  for await (const { jobs } of api.followGraph(graph, 0, enough.signal)) {
    if (jobs.some((one) => one.name === job && one.state === state)) return enough.abort();
  }
  throw new Error(`${job} was never ${state}`);
}

test("what failed is retriggered as it was shown, and what was skipped runs", async () => {
  const graph = await submitted();
  await until(graph, "after", "unreachable");

  const shown = await api.call(rerunEndpoints.retrigger, {
    params: { graph },
    body: { selection: "suite:unit", dryRun: true },
  });
  const done = await api.call(rerunEndpoints.retrigger, {
    params: { graph: graph.slice(0, 8) },
    body: {
      selection: "suite:unit",
      token: shown.token,
    },
  });
  await until(graph, "after", "succeeded");

  expect(shown.jobs.map(({ job, does }) => [job, does])).toEqual([
    ["flaky", "runs"],
    ["after", "is revived"],
  ]);
  expect(shown.expected).toMatchObject({ runs: 2, cost: 0 });
  expect(done).toEqual({ ...shown, applied: true });
  expect((await api.job(graph, "flaky")).runList[0]).toMatchObject({
    number: 2,
    cause: "retrigger",
    why: "retriggered by anyone",
  });
});

test("an edge is waived, and a breakpoint released", async () => {
  const graph = await submitted();
  await until(graph, "after", "unreachable");

  const waived = await api.call(rerunEndpoints.waive, {
    params: { graph },
    body: { job: "after", on: "flaky", reason: "known" },
  });
  await until(graph, "sign-off", "waiting");
  const released = await api.call(rerunEndpoints.release, {
    params: { graph },
    body: { job: "sign-off", verdict: "go" },
  });

  expect(waived.jobs).toMatchObject([{ job: "after", does: "is revived" }]);
  expect(released.state).toBe("succeeded");
  await until(graph, "after", "succeeded");
});

test("a graph is customised, cloned, and found in its set", async () => {
  const graph = await submitted();
  await until(graph, "after", "unreachable");

  const customised = await api.call(rerunEndpoints.customise, {
    params: { graph },
    body: {
      job: "flaky",
      patch: { dummy: { outcomes: ["succeeded"] } },
      retrigger: true,
    },
  });
  const cloned = await api.call(rerunEndpoints.clone, {
    params: { graph },
    body: { jobs: ["after"], mode: "uncustomised" },
  });
  const set = await api.call(rerunEndpoints.graphSet, { params: { set: cloned.graph?.id ?? "" } });

  expect(customised.changes).toMatchObject([{ path: "dummy.outcomes" }]);
  expect(cloned.jobs).toEqual(["after", "flaky"]);
  expect(set.graphs.map(({ id }) => id)).toEqual([graph, cloned.graph?.id]);
});

test("graphs that were submitted for one set are retriggered by its name", async () => {
  const repository = testRepository(dataDir);
  repository.write({ ".grange/farm.yml": definitions });
  repository.commit("Begin");
  const [first, second] = [
    await api.call(graphEndpoints.submitGraph, {
      body: { repository: repository.path, select: "after", set: "nightly-1" },
    }),
    await api.call(graphEndpoints.submitGraph, {
      body: { repository: repository.path, select: "flaky", set: "nightly-1" },
    }),
  ];
  await until(first.id, "after", "unreachable");
  await until(second.id, "flaky", "failed");

  const planned = await api.call(rerunEndpoints.retriggerSet, {
    params: { set: "nightly-1" },
    body: {
      selection: "unit",
      wholeSet: true,
      dryRun: true,
    },
  });

  const runs = planned.jobs.filter(({ does }) => does === "runs");
  expect(new Set(runs.map(({ graph, job }) => `${graph} ${job}`))).toEqual(
    new Set([`${first.id} flaky`, `${second.id} flaky`]),
  );
  expect(await api.call(rerunEndpoints.graphSet, { params: { set: "nightly-1" } })).toMatchObject({
    id: first.id,
    name: "nightly-1",
  });
  await expect(api.call(rerunEndpoints.graphSet, { params: { set: "nightly-2" } })).rejects.toThrow(
    'there is no set "nightly-2"',
  );
});

describe("is refused", () => {
  test.each([
    { body: { selection: "suite:unti" }, status: "not_found", says: 'did you mean "suite:unit"?' },
    { body: { selection: "a & (b" }, status: "invalid_argument", says: "selection, column" },
    { body: { jobs: ["flaky"], mode: "sideways" }, status: "invalid_argument", says: "mode" },
    { body: { jobs: ["flaky"], times: 101 }, status: "invalid_argument", says: "times" },
    { body: { job: "flaky" }, status: "invalid_argument", says: "job" },
  ])("retrigger $body: $says", async ({ body, status, says }) => {
    const graph = await submitted();

    await expect(
      api.call(rerunEndpoints.retrigger, { params: { graph }, body: body as object }),
    ).rejects.toMatchObject({
      code: status,
      message: expect.stringContaining(says),
    });
  });

  test("a job or a graph that is not there", async () => {
    const graph = await submitted();

    await expect(
      api.call(rerunEndpoints.release, {
        params: { graph },
        body: { job: "nobody", verdict: "go" },
      }),
    ).rejects.toThrow(`there is no job "nobody" in graph ${graph}`);
    await expect(
      api.call(rerunEndpoints.graphSet, { params: { set: "ffffffff" } }),
    ).rejects.toThrow('there is no graph "ffffffff"');
  });
});
