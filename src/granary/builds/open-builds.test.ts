import { appendFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import type { GranaryBuildReport } from "#api/granary.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { encodeIndex } from "#commit-index/encode-index.ts";
import type { IndexEntry } from "#commit-index/index-entry.ts";
import { Fault } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import {
  FetchResponseSchema,
  FoundIndex_Source,
  FoundIndexSchema,
} from "#proto/grange/granary/v1/granary_pb.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import { noFarm } from "../farm/no-farm.ts";
import type { IndexToPublish } from "../outbox/outbox.ts";
import { expectedOf, fetchingFarm, keyOf } from "../prefetch/fetching-farm.fixture.ts";
import {
  freshDirectory,
  openStore,
  resultOf,
  silentLogger,
} from "../store/granary-store.fixture.ts";
import { openAccessLog } from "./access-log.ts";
import { startBuildAccesses } from "./build-accesses.ts";
import type { BuildFacts } from "./build-facts.ts";
import type { BuildsParts } from "./builds-parts.ts";
import { openBuilds } from "./open-builds.ts";

const commit = "a".repeat(40);
const parent = "b".repeat(40);
const facts: BuildFacts = {
  project: "p",
  repository: "r",
  commits: [commit, parent],
  tree: "c".repeat(40),
  branch: "main",
  dirty: false,
  environment: "linux-x64",
  machine: "m",
  command: "make",
  targets: ["all"],
  prefetch: true,
};

async function scene(options: Partial<BuildsParts> = {}) {
  const directory = options.directory ?? (await freshDirectory());
  const store = await openStore({ directory });
  const indexes: IndexToPublish[] = [];
  const reports: GranaryBuildReport[] = [];
  let held = 0;
  const holds: (string | undefined)[] = [];
  const outbox = {
    sentBytes: 0,
    async addIndex(index: IndexToPublish) {
      indexes.push(index);
    },
    async addReport(report: GranaryBuildReport) {
      reports.push(report);
    },
    hold(until?: string) {
      holds.push(until);
      held += 1;
      return () => {
        held -= 1;
      };
    },
  };
  const builds = await openBuilds({
    directory,
    store,
    farm: noFarm(),
    outbox,
    changedSince: async () => undefined,
    ownEnvironment: async () => "e",
    limits: { bytes: 1e9, results: 1e6 },
    upload: "during",
    logger: silentLogger,
    ...options,
  });
  onTestFinished(() => builds.stop());
  return { directory, store, builds, indexes, reports, held: () => held, holds };
}

const missed = { source: "missed", because: "never-made", waitedMs: 0, result: undefined } as const;

/** A farm that has an index of `of` with these entries, and what they name. */
function indexed(of: FoundIndex_Source, entries: readonly IndexEntry[], distance = 0) {
  const fetching = fetchingFarm();
  const blobs = memoryBlobStore();
  const bytes = encodeIndex({ base: undefined, entries, removed: [] });
  const farm: GranaryFarm = {
    ...noFarm(),
    line: () => fetching.line(),
    fetch: (...wished) => fetching.fetch(...wished),
    blobs: () => blobs,
    async resolve() {
      await blobs.put(digestOf(bytes), bytes);
      const index = create(FoundIndexSchema, {
        source: of,
        commit: distance === 0 ? commit : parent,
        distance,
        index: toDigestMessage(digestOf(bytes)),
        complete: true,
        entries: entries.length,
      });
      return { indexes: [index], mayHave: () => true };
    },
  };
  return { farm, fetching };
}

test("hits and misses are indexed under the commit when the build ends", async () => {
  const { builds, indexes, reports, directory } = await scene();
  const build = await builds.start(facts);
  const hit = resultOf("hit", ["value"]);
  build.asked(hit, { source: "local", because: undefined, waitedMs: 0, result: hit });
  build.asked(keyOf("made"), missed);
  build.made(resultOf("made", ["made value", "made blob"]));
  build.knowsInputs(keyOf("made"), ["src/"]);

  const report = await builds.end(build.id, { exitCode: 0, complete: true });

  expect(indexes).toMatchObject([
    { commits: [commit, parent], environment: "linux-x64", complete: true, targets: ["all"] },
  ]);
  expect(indexes[0]?.entries.map(({ key, blobs, inputs }) => [key, blobs.length, inputs])).toEqual([
    ["hit", 1, undefined],
    ["made", 2, ["src/"]],
  ]);
  expect(reports).toEqual([report]);
  expect(report?.counts).toMatchObject({ local: 1, missed: 1 });
  expect(await readdir(join(directory, "builds"))).toEqual([]);
  expect(await builds.end(build.id, { exitCode: 0, complete: true })).toBeUndefined();
});

test.each([
  { when: "is away as a build begins", isSilent: false },
  { when: "does not answer a build that begins", isSilent: true },
])("of a farm that $when all is fetched as soon as it is back", async ({ isSilent }) => {
  const { farm, fetching } = indexed(FoundIndex_Source.COMMIT, [
    expectedOf(resultOf("a", ["value", "blob"]), 60_000).entry,
  ]);
  fetching.has("a", ["value", "blob"]);
  let isAway = !isSilent;
  let asked = 0;
  const { builds, reports, store } = await scene({
    farm: {
      ...farm,
      isAway: () => isAway,
      async resolve(...which) {
        if (asked++ > 0 || !isSilent) return farm.resolve(...which);
        isAway = true;
        throw new Fault("deadline_exceeded", "it says nothing");
      },
    },
  });
  const build = await builds.start(facts);
  await expect.poll(() => build.prefetch.whyNot(keyOf("a"))).toBe("farm-away");

  isAway = false;
  await expect.poll(() => store.has("p", keyOf("a"))).toBe(true);

  await builds.end(build.id, { exitCode: 0, complete: true });
  expect(reports[0]?.indexes).toMatchObject([{ source: "commit", commit }]);
  expect(reports[0]?.truncated).toEqual([]);
});

test("a build that ends while the farm is unreachable does not wait", async () => {
  const { builds, reports } = await scene({ farm: { ...noFarm(), isAway: () => true } });
  const build = await builds.start(facts);
  await builds.end(build.id, { exitCode: 0, complete: true });
  expect(reports[0]).toMatchObject({ indexes: [], truncated: [] });
});

test.each([
  { what: "a dirty tree", of: { dirty: true } },
  { what: "a repository without commits", of: { commits: [] } },
])("$what is reported, and indexed under nothing", async ({ of }) => {
  const { builds, indexes, reports } = await scene();
  const build = await builds.start({ ...facts, ...of });
  build.made(resultOf("made", ["value"]));
  await builds.end(build.id, { exitCode: 0, complete: true });
  expect(indexes).toEqual([]);
  expect(reports).toHaveLength(1);
});

test.each([
  { how: { exitCode: 1, complete: true } },
  { how: { exitCode: null, complete: false } },
  { how: { exitCode: 0, complete: false } },
])("a build that ends with $how is indexed as incomplete", async ({ how }) => {
  const { builds, indexes } = await scene();
  const build = await builds.start(facts);
  build.made(resultOf("made", ["value"]));
  await builds.end(build.id, how);
  expect(indexes).toMatchObject([{ complete: false }]);
});

test("parallel builds of two commits are each indexed with all their requests", async () => {
  const { builds, indexes } = await scene();
  const other = "d".repeat(40);
  const [one, two] = [
    await builds.start(facts),
    await builds.start({ ...facts, commits: [other, parent] }),
  ];
  for (const build of [one, two]) build.asked(keyOf("shared"), missed);
  one.made(resultOf("shared", ["value"]));
  const shared = resultOf("shared", ["value"]);
  two.asked(shared, { source: "local", because: undefined, waitedMs: 0, result: shared });
  one.asked(keyOf("one"), missed);
  one.made(resultOf("one", ["of one"]));
  two.asked(keyOf("two"), missed);
  two.made(resultOf("two", ["of two"]));

  await builds.end(two.id, { exitCode: 0, complete: true });
  await builds.end(one.id, { exitCode: 0, complete: true });

  expect(
    indexes.map(({ commits, entries }) => [commits[0], entries.map(({ key }) => key)]),
  ).toEqual([
    [other, ["shared", "two"]],
    [commit, ["shared", "one"]],
  ]);
});

test("a build without requests removes nothing from its commit's index", async () => {
  const { builds, indexes } = await scene();
  const build = await builds.start(facts);
  await builds.end(build.id, { exitCode: 0, complete: true });
  expect(indexes).toEqual([]);
});

test("the requests in a dead daemon's log are published by the next daemon, once, as incomplete", async () => {
  const directory = await freshDirectory();
  const id = "6f9619ff-8b86-4011-b42d-00cf4fc964ff";
  const accesses = startBuildAccesses();
  accesses.made(resultOf("made", ["value"]), 10);
  const log = await openAccessLog(
    join(directory, "builds"),
    { id, startedAt: new Date(), facts },
    accesses,
    () => expect.unreachable(),
  );
  await log.close();
  await appendFile(join(directory, "builds", `${id}.demand`), '{"n":"ccache","k":"ha');
  await appendFile(join(directory, "builds", "no-log.demand"), "nonsense");

  const { builds, indexes, reports } = await scene({ directory });

  expect(indexes).toMatchObject([{ complete: false, entries: [{ key: "made" }] }]);
  expect(reports).toMatchObject([{ id, exitCode: null, counts: { missed: 1 } }]);
  expect(await readdir(join(directory, "builds"))).toEqual([]);
  expect(builds.running()).toEqual([]);
});

test("a build that stops with its daemon is not lost", async () => {
  const { builds, indexes } = await scene();
  const build = await builds.start(facts);
  build.made(resultOf("made", ["value"]));
  await builds.stop();
  expect(indexes).toMatchObject([{ complete: false }]);
});

test("without an id, a request belongs to the only build of its project", async () => {
  const { builds } = await scene();
  const one = await builds.start(facts);
  expect(builds.only("p")).toBe(one);
  expect(builds.only("q")).toBeUndefined();
  const two = await builds.start(facts);
  expect(builds.only("p")).toBeUndefined();
  expect(builds.find(two.id)).toBe(two);
  await builds.end(one.id, { exitCode: 0, complete: false });
  expect(builds.only("p")).toBe(two);
});

test("the results in the commit's index are present when the build needs them", async () => {
  const result = fetchingFarm().has("k", ["value", "blob"]);
  const { farm, fetching } = indexed(FoundIndex_Source.COMMIT, [expectedOf(result, 60_000).entry]);
  fetching.has("k", ["value", "blob"]);
  const { builds, store } = await scene({ farm });

  const build = await builds.start(facts);
  expect(await build.ready(20_000)).toBe("ready");

  const found = await store.find("p", result);
  expect(found).toBeDefined();
  build.asked(result, { source: "prefetched", because: undefined, waitedMs: 0, result: found });
  const report = await builds.end(build.id, { exitCode: 0, complete: true });
  expect(report).toMatchObject({
    indexes: [{ source: "commit", complete: true, entries: 1 }],
    counts: { prefetched: 1 },
    bytes: { transferred: 9 },
  });
  expect(report?.lead?.leastMs).toBeGreaterThanOrEqual(0);
});

test("a use that is recorded after the build keeps the time from the index", async () => {
  const result = fetchingFarm().has("k", ["value"]);
  const { farm, fetching } = indexed(FoundIndex_Source.COMMIT, [expectedOf(result, 7).entry]);
  fetching.has("k", ["value"]);
  const { builds, indexes } = await scene({ farm });
  const build = await builds.start(facts);
  await build.ready(20_000);
  await rest(20);
  const hit = { source: "local", because: undefined, waitedMs: 0, result } as const;

  build.asked(result, { ...hit, isNotedLater: true });
  build.asked(keyOf("unknown"), { ...hit, isNotedLater: true });
  await builds.end(build.id, { exitCode: 0, complete: true });

  const times = indexes[0]?.entries.map(({ key, firstMs }) => [key, firstMs]);
  expect(times?.[0]).toEqual(["k", 7]);
  expect(times?.[1]?.[1]).toBeGreaterThan(7);
});

test("results in an ancestor's index that were made from changed files are not prefetched", async () => {
  const source = fetchingFarm();
  const same = source.has("same", ["value of same"]);
  const other = source.has("other", ["value of other"]);
  const entries = [
    { ...expectedOf(same, 60_000).entry, inputs: ["lib/"] },
    { ...expectedOf(other, 61_000).entry, inputs: ["src/a.c"] },
  ];
  const { farm, fetching } = indexed(FoundIndex_Source.ANCESTOR, entries, 1);
  fetching.has("same", ["value of same"]);
  fetching.has("other", ["value of other"]);
  const asked: string[] = [];
  const { builds, store } = await scene({
    farm,
    changedSince: async (_facts, since) => {
      asked.push(since);
      return ["src/a.c"];
    },
  });

  const build = await builds.start(facts);
  await build.ready(20_000);

  expect(asked).toEqual([parent]);
  expect(store.has("p", same)).toBe(true);
  expect(store.has("p", other)).toBe(false);
  expect(await builds.end(build.id, { exitCode: 0, complete: true })).toMatchObject({
    indexes: [{ entries: 2, dropped: 1 }],
  });
});

test("a fresh clone prefetches from the repository's newest index, which it cannot compare with its own commit", async () => {
  const result = fetchingFarm().has("k", ["value"]);
  const { farm, fetching } = indexed(FoundIndex_Source.REPOSITORY, [
    expectedOf(result, 60_000).entry,
  ]);
  fetching.has("k", ["value"]);
  const { builds, store } = await scene({ farm });

  const build = await builds.start({ ...facts, commits: ["d".repeat(40)], branch: "" });
  await build.ready(20_000);

  expect(store.has("p", result)).toBe(true);
  expect(await builds.end(build.id, { exitCode: 0, complete: true })).toMatchObject({
    indexes: [{ source: "repository", commit }],
  });
});

test("a build without prefetch reports the reason", async () => {
  const directory = await freshDirectory();
  const builds = Array.from({ length: 5 }, () => ({ transferred: 100, wasted: 90 }));
  const known = [[JSON.stringify(["p", "make"]), { builds, skipped: 0 }]];
  await writeFile(join(directory, "prefetch-waste.json"), JSON.stringify(known));
  const running = (await scene({ directory })).builds;
  const reportOf = async (more: Partial<BuildFacts>) => {
    const { id } = await running.start({ ...facts, ...more });
    return running.end(id, { exitCode: 0, complete: true });
  };

  expect(await reportOf({})).toMatchObject({ notAhead: "wasteful" });
  expect(await reportOf({ prefetch: false })).toMatchObject({ notAhead: "not-wished" });
  expect(await reportOf({ command: "another" })).not.toHaveProperty("notAhead");
});

test("a silent farm delays neither the start nor the end of a build", async () => {
  const farm: GranaryFarm = { ...noFarm(), resolve: () => new Promise(() => {}) };
  const { builds } = await scene({ farm });
  const build = await builds.start(facts);
  expect(await build.ready(5)).toBe("late");
  expect(await builds.end(build.id, { exitCode: 0, complete: true })).toMatchObject({
    indexes: [],
  });
});

test("a machine that is new to a project gets the first results together with the index", async () => {
  const { farm } = indexed(FoundIndex_Source.COMMIT, []);
  const asked: unknown[] = [];
  const asking: GranaryFarm = {
    ...farm,
    resolve(which) {
      asked.push([which.project, which.headBytes]);
      return farm.resolve(which);
    },
  };
  const { builds } = await scene({ farm: asking });
  for (const which of [facts, facts, { ...facts, project: "q" }, { ...facts, prefetch: false }]) {
    const build = await builds.start(which);
    await builds.end(build.id, { exitCode: 0, complete: true });
  }

  expect(asked).toEqual([
    ["p", 100_000],
    ["p", undefined],
    ["q", 100_000],
    ["p", undefined],
  ]);
});

test("results that arrive with the index but do not belong to it cost the build nothing", async () => {
  const result = resultOf("k", ["value"]);
  const { farm, fetching } = indexed(FoundIndex_Source.COMMIT, [expectedOf(result, 1).entry]);
  fetching.has("k", ["value"]);
  const nonsense = create(FetchResponseSchema, {
    packed: Buffer.from("no frame"),
    unpackedBytes: 9,
  });
  const broken: GranaryFarm = {
    ...farm,
    resolve: async (which) => ({ ...(await farm.resolve(which)), head: [nonsense] }),
  };
  const { builds, store } = await scene({ farm: broken });
  const build = await builds.start(facts);

  expect(await build.ready(20_000)).toBe("ready");
  expect(store.has("p", result)).toBe(true);
  await builds.end(build.id, { exitCode: 0, complete: true });
});

test("an invalid index costs the build only the index", async () => {
  const { farm } = indexed(FoundIndex_Source.COMMIT, []);
  const wrong = Buffer.from("not an index");
  const broken: GranaryFarm = {
    ...farm,
    async resolve(which) {
      const { indexes, mayHave } = await farm.resolve(which);
      await farm.blobs("p").put(digestOf(wrong), wrong);
      const told = indexes.map((index) => ({ ...index, index: toDigestMessage(digestOf(wrong)) }));
      return { indexes: told, mayHave };
    },
  };
  const { builds } = await scene({ farm: broken });
  const build = await builds.start(facts);
  expect(await build.ready(20_000)).toBe("ready");
  const report = await builds.end(build.id, { exitCode: 0, complete: true });
  expect(report).toMatchObject({ indexes: [], truncated: ["index"] });
});

test.each([
  { upload: "after", until: "released" },
  { upload: "soon", until: "due" },
] as const)(
  "uploads wait for the end of the build ($upload: or until $until)",
  async ({ upload, until }) => {
    const { builds, held, holds } = await scene({ upload });
    const build = await builds.start(facts);
    expect(held()).toBe(1);
    expect(holds).toEqual([until]);
    await builds.end(build.id, { exitCode: 0, complete: true });
    expect(held()).toBe(0);
  },
);

test("a dry run lists what would be fetched, without fetching it", async () => {
  const result = fetchingFarm().has("k", ["value", "blob"]);
  const { farm, fetching } = indexed(FoundIndex_Source.COMMIT, [expectedOf(result, 60_000).entry]);
  fetching.has("k", ["value", "blob"]);
  const { builds, store } = await scene({ farm });

  const told = await builds.fetchAhead(facts, true);
  expect(told).toMatchObject({ results: 1, bytes: 9, indexes: [{ source: "commit" }] });
  expect(fetching.asked).toEqual([]);

  await builds.fetchAhead(facts, false);
  await expect.poll(() => store.has("p", result)).toBe(true);
  expect(await builds.fetchAhead(facts, true)).toMatchObject({ results: 0, bytes: 0 });
});

test("results that a tool's own records call up to date stay in the commit's index; overwritten ones do not", async () => {
  const { builds, indexes } = await scene();
  const build = async (commits: string[], dirty: boolean, made: Record<string, string>) => {
    const { id } = await builds.start({ ...facts, commits, dirty, root: "/checkout" });
    const build = builds.find(id);
    for (const [key, place] of Object.entries(made)) {
      const result = resultOf(key, [key]);
      build?.made(result);
      build?.knowsPlace?.(result, [`${place}.d`, place]);
    }
    await builds.end(id, { exitCode: 0, complete: true });
    return indexes.at(-1);
  };
  const keys = (index: IndexToPublish | undefined) => index?.entries.map(({ key }) => key).sort();
  const places = { one: "a.o", two: "b.o", three: "c.o" };
  expect(keys(await build([parent], false, places))).toEqual(["one", "three", "two"]);
  // Between the commits, the working tree had other changes.
  await build([parent], true, { tried: "c.o" });
  expect(indexes).toHaveLength(1);
  const next = await build([commit, parent], false, { leaf: "a.o" });
  expect(keys(next)).toEqual(["leaf", "tried", "two"]);
  expect(next?.complete).toBe(true);
});

test("the commit that a tool reports counts when the workspace has none, and a dirty tree stays dirty", async () => {
  const { builds, indexes } = await scene();
  for (const dirty of [[false], [false, true], [true, false]]) {
    const build = await builds.start({ ...facts, commits: [] });
    for (const each of dirty) build.toldCommit?.(commit, each);
    build.made(resultOf("one", ["one"]));
    await builds.end(build.id, { exitCode: 0, complete: true });
  }
  expect(indexes.map(({ commits }) => commits)).toEqual([[commit]]);
});

const inner = {
  root: "/w/vendor/lib",
  repository: "lib",
  commits: ["d".repeat(40)],
  tree: "e".repeat(40),
  branch: "stable",
  dirty: false,
};

test("results of a nested repository are also indexed under its commit, and all under the outer one's", async () => {
  const { builds, indexes, reports } = await scene();
  const build = await builds.start({ ...facts, nested: [inner] });
  build.made(resultOf("outer", ["value"]));
  build.made(resultOf("inner", ["another value"]));
  build.belongsTo(keyOf("inner"), 1);

  await builds.end(build.id, { exitCode: 0, complete: true });

  expect(
    indexes.map(({ repository, commits: [first], branch, environment, complete, entries }) => [
      repository,
      first,
      branch,
      environment,
      complete,
      entries.map(({ key }) => key),
    ]),
  ).toEqual([
    ["r", commit, "main", "linux-x64", true, ["outer", "inner"]],
    ["lib", inner.commits[0], "stable", "linux-x64", true, ["inner"]],
  ]);
  expect(reports).toMatchObject([{ repository: "r", commit, counts: { missed: 2 } }]);
});

test("a change in a nested repository keeps only its own results out of an index", async () => {
  const { builds, indexes } = await scene();
  const build = await builds.start({ ...facts, nested: [{ ...inner, dirty: true }] });
  build.made(resultOf("outer", ["value"]));
  build.made(resultOf("inner", ["another value"]));
  build.belongsTo(keyOf("inner"), 1);

  await builds.end(build.id, { exitCode: 0, complete: true });

  expect(indexes.map(({ repository }) => repository)).toEqual(["r"]);
});

test("results of a nested repository are fetched when its tool reports it during the build", async () => {
  const result = fetchingFarm().has("k", ["value", "blob"]);
  const { farm, fetching } = indexed(FoundIndex_Source.COMMIT, [expectedOf(result, 60_000).entry]);
  fetching.has("k", ["value", "blob"]);
  const asked: string[] = [];
  const { builds, store, reports } = await scene({
    farm: {
      ...farm,
      async resolve(which, signal) {
        asked.push(which.repository);
        if (which.repository === "r") return { indexes: [], mayHave: () => true };
        return farm.resolve(which, signal);
      },
    },
  });
  const build = await builds.start(facts);
  await expect.poll(() => build.prefetch.whyNot(keyOf("k"))).toBe("not-indexed");

  await build.uses([inner]);
  // A second report would give positions another meaning.
  await build.uses([inner, inner]);
  await build.prefetch.settled();

  expect(store.has("p", result)).toBe(true);
  await builds.end(build.id, { exitCode: 0, complete: true });
  expect(asked).toEqual(["r", "lib"]);
  expect(reports[0]?.indexes).toHaveLength(1);
});

test("after a crash, results of a nested repository that was reported late are published under its commit, too", async () => {
  const directory = await freshDirectory();
  const id = "6f9619ff-8b86-4011-b42d-00cf4fc964ff";
  const accesses = startBuildAccesses();
  const started = { id, startedAt: new Date(), facts };
  const log = await openAccessLog(join(directory, "builds"), started, accesses, () =>
    expect.unreachable(),
  );
  log.nested([inner]);
  accesses.made(resultOf("inner", ["value"]), 10);
  accesses.belongsTo(keyOf("inner"), 1);
  await log.close();

  const { indexes } = await scene({ directory });

  expect(indexes).toMatchObject([
    { repository: "r", commits: facts.commits, entries: [{ key: "inner" }] },
    { repository: "lib", commits: inner.commits, complete: false, entries: [{ key: "inner" }] },
  ]);
});
