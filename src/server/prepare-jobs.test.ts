import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Graph, SubmittedGraph } from "#api/graph.ts";
import { silent } from "#execution/execution.fixture.ts";
import { askServer, postTo } from "../../test/support/ask-server.ts";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { sampleRepository } from "../../test/support/sample-repository.ts";
import { readServerConfig } from "./config.ts";
import { startServer } from "./start-server.ts";

test("a server with GRANGE_PREPARE_JOBS=0 leaves jobs to another server of its farm", async () => {
  const top = await mkdtemp(join(tmpdir(), "grange-prepare-jobs-"));
  onTestFinished(() => rm(top, { recursive: true, force: true }));
  const repository = await sampleRepository({
    ".grange/farm.yml": "version: 1\njobs:\n  a: { kind: dummy }\n",
  });
  onTestFinished(() => repository.remove());
  const shared = {
    port: 0,
    databaseUrl: await freshDatabase(),
    blobs: join(top, "blobs"),
    farmKey: join(top, "farm.key"),
    secretsKey: join(top, "secrets.key"),
    localRepositories: tmpdir(),
  };
  const serve = async (name: string, env: NodeJS.ProcessEnv = {}) => {
    const config = readServerConfig({ ...shared, dataDir: join(top, name) }, env);
    const server = await startServer(config, silent);
    onTestFinished(() => server.stop());
    return server;
  };

  const near = await serve("near", { GRANGE_PREPARE_JOBS: "0" });
  const { id } = await postTo<SubmittedGraph>(near, "/graphs", { repository: repository.path });
  const graph = async () => (await askServer(near, "GET", `/graphs/${id}`)).body as Graph;
  expect((await graph()).jobList).toMatchObject([{ name: "a", startedAt: null }]);
  const before = Date.now();
  await serve("main");

  await expect.poll(async () => (await graph()).state, { timeout: 60_000 }).toBe("succeeded");
  const [job] = (await graph()).jobList;
  expect(Date.parse(job?.finishedAt ?? "")).toBeGreaterThanOrEqual(before);
});
