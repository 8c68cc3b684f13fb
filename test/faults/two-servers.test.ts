import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { GraphSummary, SubmittedGraph } from "#api/graph.ts";
import { type Farm, grange, startFarm } from "../support/farm.ts";
import { farmDatabaseUrl } from "../support/farm-database-url.ts";
import { startProgram } from "../support/process.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

/** Two servers with one database and one blob store. */
let first: Farm;
let second: Farm;
let repository: SampleRepository;

beforeAll(async () => {
  first = await startFarm({ workers: 0 });
  [second, repository] = await Promise.all([
    startFarm({
      workers: 0,
      env: {
        GRANGE_DATABASE_URL: await farmDatabaseUrl(first),
        GRANGE_BLOBS: join(first.dataDir, "blobs"),
      },
    }),
    sampleRepository({
      ".grange/farm.yml": `
version: 1
jobs:
  a: { commands: "true", inputs: [] }
  b: { commands: "true", inputs: [], needs: [a] }
`,
    }),
  ]);
});
afterAll(async () => {
  await second.stop();
  await first.stop();
  await repository.remove();
});

async function post<T>(farm: Farm, path: string, body: unknown): Promise<T> {
  const answer = await fetch(`${farm.url}/api/v1${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBeLessThan(300);
  return (await answer.json()) as T;
}

test("a graph that is submitted to both at the same time, with one id, is one graph", async () => {
  const id = randomUUID();
  const request = { repository: repository.path, id };

  const submitted = await Promise.all(
    [first, second, first, second].map((farm) => post<SubmittedGraph>(farm, "/graphs", request)),
  );

  expect(submitted.map((each) => each.id)).toEqual([id, id, id, id]);
  for (const farm of [first, second]) {
    const graphs = (await (await fetch(`${farm.url}/api/v1/graphs`)).json()) as GraphSummary[];
    expect(graphs.filter((graph) => graph.id === id)).toHaveLength(1);
  }
});

test("a graph that is cancelled on both at the same time ends once, and both show it", async () => {
  const { id } = await first.submit({ repository: repository.path });
  const [atFirst, atSecond] = [first.untilOver(id), second.untilOver(id)];

  await Promise.all([first, second].map((farm) => post(farm, `/graphs/${id}/cancel`, {})));

  expect((await atFirst).state).toBe("cancelled");
  expect(await atSecond).toEqual(await atFirst);
});

test("a graph that is submitted to one while the other is killed is visible after the restart", async () => {
  const { id } = await first.submit({ repository: repository.path });

  second.server.signal("SIGKILL");
  await post(first, `/graphs/${id}/cancel`, {});
  await second.restartServer();

  expect((await second.untilOver(id)).state).toBe("cancelled");
});

test("jobs of a graph that one server planned run on workers of the other", async () => {
  const workers = [first.startWorker(), second.startWorker()];

  const { id } = await first.submit({ repository: repository.path });

  expect((await second.untilOver(id)).state).toBe("succeeded");
  expect(await first.log(id, "b")).toBe(await second.log(id, "b"));
  for (const worker of workers) worker.signal("SIGTERM");
  await Promise.all(workers.map((worker) => worker.finished));
});

test("a server with a different blob store is refused, with a remedy", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "grange-apart-"));
  const apart = startProgram(
    process.execPath,
    [grange, "server", "--data", dataDir, "--port", "0"],
    { env: { GRANGE_DATABASE_URL: await farmDatabaseUrl(first) } },
  );

  const { code, stdout } = await apart.finished;

  expect(code).toBe(1);
  const line = JSON.parse(stdout) as { ready: boolean; error: { message: string } };
  expect(line.error.message).toMatch(/share one store: name its directory in GRANGE_BLOBS/);
  await rm(dataDir, { recursive: true });
});
