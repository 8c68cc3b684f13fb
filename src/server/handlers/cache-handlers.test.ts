import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { outputTrees } from "#actions/output-trees.ts";
import { ActionDifferences } from "#api/action-comparison.ts";
import { CacheUseAnswer } from "#api/cache-use.ts";
import { StoreContents } from "#api/store-contents.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { openDiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import { openNamespacedEviction } from "#cas/disk/namespaced-eviction.ts";
import { systemClock } from "#core/clock.ts";
import { digestKey } from "#core/digest.ts";
import { silent } from "#execution/execution.fixture.ts";
import { ActionCache } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { askServer } from "../../../test/support/ask-server.ts";
import { noClaims } from "../retention/farm-claims.ts";
import { startEviction } from "../retention/start-eviction.ts";
import { roundsInDirectory } from "../retention/store-rounds.ts";
import { type Asker, aClosedFarm, actionOf, upload } from "../two-projects.fixture.ts";

let farm: Awaited<ReturnType<typeof aClosedFarm>>;
const askers = new Map<string, Asker>();
const one = actionOf({ script: "cat input", input: "1", platform: {}, outputs: [] });
const two = actionOf({ script: "cat input >&2", input: "2", platform: {}, outputs: [] });

beforeAll(async () => {
  farm = await aClosedFarm();
  const root = await farm.tokenOf("second-root", ["*"]);
  await askServer(farm.server, "PUT", "/access", { access: "private" }, root);
  for (const project of ["team/one", "team/two"]) {
    const token = await farm.tokenOf(project.replace("/", "-"), ["read", "cache"], project);
    const asker = farm.asker(project, token);
    askers.set(project, asker);
    await upload(asker, [...one.bytes, ...two.bytes]);
  }
});
afterAll(() => farm.stop());

const asker = (project: string) => {
  const found = askers.get(project);
  if (found === undefined) throw new Error(`nobody uses ${project}`);
  return found;
};
const get = (path: string, project: string) =>
  askServer(farm.server, "GET", path, undefined, asker(project).token);

test("hits and misses are counted by project, and a caller sees those of its own projects", async () => {
  const { channel, token } = asker("team/one");
  await expect(
    channel.unary(ActionCache.method.getActionResult, {
      instanceName: "team/one",
      actionDigest: toDigestMessage(one.action),
    }),
  ).rejects.toMatchObject({ code: "not_found" });
  const entry = `${farm.server.url}/cache/team%2Fone/gradle/abc`;
  const headers = { authorization: `Bearer ${token}` };
  expect((await fetch(entry, { headers })).status).toBe(404);
  expect((await fetch(entry, { method: "PUT", body: "x", headers })).ok).toBe(true);
  expect(await (await fetch(entry, { headers })).text()).toBe("x");

  const use = async (project: string) =>
    CacheUseAnswer.parse((await get("/caches/use?days=1", project)).body);

  // Servers store their counts every few seconds.
  await expect
    .poll(async () => (await use("team/one")).series, { timeout: 15_000 })
    .toMatchObject([
      { kind: "gradle", name: "team/one", hits: 1, misses: 1 },
      { kind: "actions", name: "team/one", hits: 0, misses: 1 },
    ]);
  expect((await use("team/two")).series).toEqual([]);
}, 30_000);

test("what the store has is known once it was counted, to readers of a project", async () => {
  const contents = async (project: string) =>
    StoreContents.parse((await get("/store/contents", project)).body);
  expect(await contents("team/one")).toMatchObject({ countedAt: null, projects: [], next: [] });

  // Another server of the store counts it.
  const directory = join(farm.dataDir, "blobs");
  const disk = await openDiskBlobStore(directory);
  const eviction = startEviction({
    db: farm.server.services.db,
    blobsOf: () => disk,
    treesOf: () => outputTrees(disk),
    stored: await openNamespacedEviction(directory),
    pinned: noClaims,
    place: roundsInDirectory(directory),
    directory,
    limitBytes: undefined,
    everyMs: 10,
    clock: systemClock,
    logger: silent,
  });
  try {
    await expect.poll(async () => (await contents("team/one")).countedAt).not.toBeNull();
  } finally {
    await eviction.stop();
  }

  const { projects, farm: whole, idleClassesMs } = await contents("team/one");
  expect(projects.map(({ project }) => project)).toEqual(["team/one"]);
  expect(projects[0]?.idleBytes.length).toBe(idleClassesMs.length);
  // Its limit is a fact about the whole farm.
  expect(whole).toBeNull();
});

test("two actions are compared by their digests, and only in a project that the caller may read", async () => {
  const path = (project: string, after = digestKey(two.action)) =>
    `/actions/comparison?project=${encodeURIComponent(project)}&before=${digestKey(one.action)}&after=${after}`;

  const found = await get(path("team/one"), "team/one");

  expect(ActionDifferences.parse(found.body)).toMatchObject({
    isSameAction: false,
    command: [{ part: "argument", name: "2", before: "cat input", after: "cat input >&2" }],
    inputs: [{ path: "input", change: "changed" }],
  });
  expect((await get(path("team/one"), "team/two")).status).toBe(403);
  const gone = await get(path("team/one", `${"0".repeat(64)}/12`), "team/one");
  expect(gone).toMatchObject({ status: 404 });
  const wrong = await get(path("team/one", "--output=x"), "team/one");
  expect(wrong).toMatchObject({ status: 400 });
});
