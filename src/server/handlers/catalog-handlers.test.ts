import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Branch } from "#api/branch.ts";
import { CatalogDetail, CatalogDiff, CatalogSummary, PushedCatalog } from "#api/catalog.ts";
import { SubmittedGraph } from "#api/graph.ts";
import { GraphPreview } from "#api/preview.ts";
import { testRepository } from "#git/repository.fixture.ts";
import { askServer } from "../../../test/support/ask-server.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { readServerConfig } from "../config.ts";
import { type RunningServer, startServer } from "../start-server.ts";

const databaseUrl = await freshDatabase();
let dataDir: string;
let server: RunningServer;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-catalogs-"));
  const config = readServerConfig({ dataDir, databaseUrl, port: 0, host: "127.0.0.1" }, {});
  server = await startServer(config, pino({ level: "silent" }));
});
afterAll(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true });
});

const ask = (method: string, path: string, body?: unknown) => askServer(server, method, path, body);

const files = { "a.yml": "version: 1\nswitches: {pgo: }\njobs:\n  build: {commands: make}\n" };

test("definitions are pushed, found again, compared and looked at", async () => {
  const first = await ask("POST", "/catalogs", { files });
  const again = await ask("POST", "/catalogs", { files });
  const other = await ask("POST", "/catalogs", {
    files: { "a.yml": files["a.yml"].replace("make", "make all") },
  });
  const { digest } = PushedCatalog.parse(first.body);

  const shown = await ask("GET", `/catalogs/${encodeURIComponent(digest)}`);
  const listed = await ask("GET", "/catalogs");
  const diff = await ask(
    "GET",
    `/catalogs/diff?${new URLSearchParams({ a: digest, b: PushedCatalog.parse(other.body).digest }).toString()}`,
  );
  const preview = await ask("POST", "/graphs/preview", { catalog: digest.slice(0, 20) });

  expect([first.status, again.status]).toEqual([201, 200]);
  expect(CatalogDetail.parse(shown.body).counts).toEqual({ job: 1, switch: 1 });
  expect(CatalogSummary.array().parse(listed.body)).toHaveLength(2);
  expect(CatalogDiff.parse(diff.body).jobs.changed).toEqual([
    { name: "build", parts: [{ path: "commands", before: "make", after: "make all" }] },
  ]);
  expect(GraphPreview.parse(preview.body)).toMatchObject({
    catalog: digest,
    switches: { pgo: false },
    jobs: [{ name: "build", state: "ready" }],
  });
});

test("a branch is told what holds on it, before its repository has a graph", async () => {
  const repository = testRepository(dataDir);
  repository.write({ ".grange/a.yml": files["a.yml"] });
  repository.commit("Begin");
  const path = `/repositories/${encodeURIComponent(repository.path)}/branches`;

  const set = await ask("PUT", `${path}/${encodeURIComponent("release/1")}`, {
    body: { priorityCap: 5, switches: { pgo: "on" } },
    why: "ships on Monday",
  });
  const shown = Branch.parse(set.body);
  const stale = await ask("PUT", `${path}/${encodeURIComponent("release/1")}`, {
    body: null,
    after: (shown.history[0]?.number ?? 0) - 1,
  });
  const { body } = await ask("GET", path);

  expect(shown).toMatchObject({ branch: "release/1", resolved: { priorityCap: 5 } });
  expect(stale.status).toBe(409);
  expect(Branch.array().parse(body)).toMatchObject([{ branch: "*" }, { branch: "release/1" }]);
});

test("what was looked at is submitted by its digest", async () => {
  const repository = testRepository(dataDir);
  repository.write({ "a.txt": "a" });
  const rev = repository.commit("No definitions");
  const { digest } = PushedCatalog.parse((await ask("POST", "/catalogs", { files })).body);

  const submitted = await ask("POST", "/graphs", {
    repository: repository.path,
    rev,
    catalog: digest,
    switches: { pgo: "on" },
  });

  expect(submitted.status).toBe(201);
  expect(SubmittedGraph.parse(submitted.body).graph.jobs).toBe(1);
});

test.each([
  { path: "/catalogs/0123456789", status: 404 },
  { path: "/catalogs/diff?a=x", status: 400 },
  { path: "/repositories/nowhere/branches", status: 404 },
])("$path is answered with $status", async ({ path, status }) => {
  expect((await ask("GET", path)).status).toBe(status);
});
