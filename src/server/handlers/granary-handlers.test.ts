import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CreatedToken } from "#api/access.ts";
import {
  CommitIndexes,
  CommitIndexPage,
  GranaryBuildReport,
  GranaryBuilds,
  Quarantine,
  Savings,
} from "#api/granary.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { encodeIndex } from "#commit-index/encode-index.ts";
import { digestKey } from "#core/digest.ts";
import { testRepository } from "#git/repository.fixture.ts";
import { aReport, sha } from "#granaries/farm-of-granaries.fixture.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { ContentAddressableStorage } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { Granaries } from "#proto/grange/granary/v1/granary_pb.ts";
import { askServer } from "../../../test/support/ask-server.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { readServerConfig } from "../config.ts";
import { type RunningServer, startServer } from "../start-server.ts";

const databaseUrl = await freshDatabase();
let dataDir: string;
let server: RunningServer;
let channel: GrpcChannel;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-granary-routes-"));
  const config = readServerConfig({ dataDir, databaseUrl, port: 0, host: "127.0.0.1" }, {});
  server = await startServer(config, pino({ level: "silent" }));
  channel = new GrpcChannel({ url: server.url });
});
afterAll(async () => {
  await channel.stop();
  await server.stop();
  await rm(dataDir, { recursive: true });
});

const ask = (method: string, path: string, body?: unknown, token?: string) =>
  askServer(server, method, path, body, token);
const get = async (path: string) => (await ask("GET", path)).body;

async function put(bytes: Uint8Array | string) {
  const data = Buffer.from(bytes);
  const digest = digestOf(data);
  await channel.unary(ContentAddressableStorage.method.batchUpdateBlobs, {
    requests: [{ digest: toDigestMessage(digest), data }],
  });
  return digest;
}

async function aResult(key: string) {
  const value = await put(`value of ${key}`);
  await channel.unary(Granaries.method.publishResults, {
    results: [{ result: { namespace: "ccache", key }, value: toDigestMessage(value) }],
  });
  return { namespace: "ccache" as const, key, value };
}

async function publish(repository: string, commit: string, keys: readonly string[]) {
  const entries = await Promise.all(
    keys.map(async (key, firstMs) => ({
      ...(await aResult(key)),
      firstMs,
      savedMs: undefined,
      inputs: undefined,
    })),
  );
  const told = encodeIndex({
    base: undefined,
    entries: entries.map(({ value, ...entry }) => ({ ...entry, blobs: [value] })),
    removed: [],
  });
  return channel.unary(Granaries.method.publishIndex, {
    repository,
    commits: [commit],
    environment: "linux",
    entries: toDigestMessage(await put(told)),
  });
}

test("builds that granaries told of are listed, looked at and summed up", async () => {
  const today = new Date().toISOString();
  const report = aReport("default", { startedAt: today, endedAt: today });
  const older = aReport("default");
  for (const each of [report, older]) {
    await channel.unary(Granaries.method.reportBuild, { json: JSON.stringify(each) });
  }

  const first = GranaryBuilds.parse(await get("/granary/builds?limit=1"));
  const rest = GranaryBuilds.parse(await get(`/granary/builds?limit=1&after=${first.next ?? ""}`));

  expect(first).toMatchObject({ builds: [{ id: report.id }], next: report.id });
  expect(rest).toMatchObject({ builds: [{ id: older.id }], next: null });
  expect(GranaryBuilds.parse(await get("/granary/builds?project=other")).builds).toEqual([]);
  expect(GranaryBuildReport.parse(await get(`/granary/builds/${report.id}`))).toEqual(report);
  expect(Savings.parse(await get("/granary/savings?days=1")).days).toMatchObject([
    { day: today.slice(0, 10), builds: 1, savedMs: 8_000 },
  ]);
  expect((await ask("GET", "/granary/builds/nonsense")).status).toBe(404);
  expect((await ask("GET", "/granary/savings?days=1000")).status).toBe(400);
});

test("a commit's index is listed and read page by page, with what is lost of it", async () => {
  const keys = Array.from({ length: 201 }, (_, n) => `k${n}`);
  await publish("somewhere", sha(1), keys);
  const which = `repository=somewhere&commit=${sha(1)}&environment=linux`;

  const { indexes } = CommitIndexes.parse(await get("/granary/indexes"));
  const first = CommitIndexPage.parse(await get(`/granary/index?${which}`));
  const rest = CommitIndexPage.parse(await get(`/granary/index?${which}&from=${first.next}`));

  expect(indexes).toMatchObject([{ commit: sha(1), entries: 201, builds: 1, chain: 1 }]);
  expect(first).toMatchObject({ index: indexes[0], next: 200 });
  expect(first.results[0]).toEqual({
    namespace: "ccache",
    key: "k0",
    bytes: "value of k0".length,
    blobs: 1,
    firstMs: 0,
    savedMs: null,
    here: true,
  });
  expect(rest).toMatchObject({ results: [{ key: "k200" }], next: null });
  const ofAny = await get(`/granary/index?repository=somewhere&commit=${sha(1)}`);
  expect(CommitIndexPage.parse(ofAny)).toEqual(first);
  expect((await ask("GET", `/granary/index?${which}2`)).status).toBe(404);
});

test("an index is taken of commits that the farm can fetch, of a repository that it knows", async () => {
  const repository = testRepository(dataDir);
  repository.write({ ".grange/a.yml": "version: 1\njobs:\n  build: {commands: make}\n" });
  const commit = repository.commit("one");
  const submitted = await ask("POST", "/graphs", { repository: repository.path, rev: "HEAD" });
  expect(submitted.status).toBe(201);
  repository.write({ more: "more" });
  const next = repository.commit("not yet asked for");

  expect(await publish(repository.path, commit, ["of a commit"])).toMatchObject({ taken: 1 });
  expect(await publish(repository.path, next, ["of a commit"])).toMatchObject({ taken: 1 });
  await expect(publish(repository.path, sha(99), ["of a commit"])).rejects.toMatchObject({
    code: "failed_precondition",
  });
});

test("a result in quarantine is shown, and released by who administers the farm", async () => {
  const { namespace, key, value } = await aResult("doubted");
  const divergence = {
    namespace,
    key,
    kept: digestKey(value),
    madeNow: `${"0".repeat(64)}/1`,
    differs: ["out"],
    machine: "m",
    build: null,
    at: new Date().toISOString(),
  };
  await channel.unary(Granaries.method.reportDivergence, { json: JSON.stringify(divergence) });
  const cache = `${server.url}/cache/default/ccache`;
  const which = { project: "default", namespace, key };

  const shown = Quarantine.parse(await get("/granary/quarantine"));
  expect(shown.results).toMatchObject([{ divergence, releasedAt: null }]);
  expect((await fetch(`${cache}/${key}`)).status).not.toBe(200);

  const root = CreatedToken.parse((await ask("POST", "/tokens", { principal: "root" })).body).token;
  await ask("POST", "/grants", { principal: "root", verb: "*" });
  const other = CreatedToken.parse(
    (await ask("POST", "/tokens", { principal: "dev" }, root)).body,
  ).token;
  const release = (token: string) => ask("POST", "/granary/quarantine/release", which, token);

  const takeAlso = (token: string) => ask("POST", "/granary/quarantine/made-from", which, token);

  expect((await takeAlso(other)).status).toBe(403);
  expect(Quarantine.parse((await takeAlso(root)).body).results).toMatchObject([
    { alsoInQuarantine: 0 },
  ]);
  expect((await release(other)).status).toBe(403);
  expect(Quarantine.parse((await release(root)).body).results).toMatchObject([
    { releasedBy: "root" },
  ]);
  expect((await release(root)).status).toBe(404);
  expect((await takeAlso(root)).status).toBe(404);
});
