import { afterAll, describe, expect, test } from "vitest";
import { encodeIndex } from "#commit-index/encode-index.ts";
import { digestKey } from "#core/digest.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import { indexOfCommit } from "./commit-index.store.ts";
import {
  buildOf,
  entryOf,
  farmOfGranaries,
  freshFarmOfGranaries,
  sha,
  toolResult,
} from "./farm-of-granaries.fixture.ts";

const farm = await freshFarmOfGranaries();
const { db } = farm;
afterAll(() => farm.stop());

const stored = (project: string, n: number) =>
  indexOfCommit(db, {
    project,
    domain: protectedDomain,
    repository: "",
    commit: sha(n),
    environment: "e1",
  });
const keys = (entries: readonly { readonly key: string }[]) => entries.map(({ key }) => key).sort();

async function someResults(project: string, count: number, from = 0) {
  const names = Array.from({ length: count }, (_, i) => `k${from + i}`);
  return Promise.all(names.map((name) => farm.aResult(project, name)));
}

test("the requests of several builds of a commit are merged, and a smaller build removes nothing", async () => {
  const results = await someResults("merge", 5);
  const entries = results.map((result, i) => entryOf(result, i));

  const first = await farm.publish(buildOf("merge", 1), entries.slice(0, 4), { isComplete: true });
  const second = await farm.publish(buildOf("merge", 1), entries.slice(3));
  const again = await farm.publish(buildOf("merge", 1), entries.slice(0, 1));

  expect(first).toMatchObject({ taken: 4, refused: 0 });
  expect(keys(await farm.entriesOf(second.index))).toEqual(["k0", "k1", "k2", "k3", "k4"]);
  expect(again.index).toEqual(second.index);
  expect(await stored("merge", 1)).toMatchObject({ entries: 5, isComplete: true, builds: 2 });
});

test("an empty session creates no index, and removes nothing from one", async () => {
  const [result] = await someResults("empty", 1);
  const before = await farm.publish(buildOf("empty", 1), []);
  const full = await farm.publish(buildOf("empty", 1), result ? [entryOf(result)] : []);

  const after = await farm.publish(buildOf("empty", 1), []);

  expect(before).toEqual({ taken: 0, refused: 0, index: undefined });
  expect(after.index).toEqual(full.index);
  expect(await farm.entriesOf(after.index)).toHaveLength(1);
});

test("two servers that receive the same commit at once lose nothing", async () => {
  const results = await someResults("race", 24);
  const servers = [farm.open(), farm.open()];

  await Promise.all(
    results.map((result, i) =>
      farm.publish(buildOf("race", 1), [entryOf(result, i)], {
        by: servers[i % 2] ?? farm.granaries,
      }),
    ),
  );

  const row = await stored("race", 1);
  expect(keys(await farm.entriesOf(row?.digest))).toEqual(keys(results));
  expect(row).toMatchObject({ entries: 24, builds: 24, version: 24 });
});

test("indexes of descendants are stored as differences, each one read from its base", async () => {
  const results = await someResults("chain", 60);
  const entries = results.map((result, i) => entryOf(result, i));
  const whole = await farm.publish(buildOf("chain", 1), entries.slice(0, 40));

  for (let n = 2; n <= 20; n++) {
    await farm.publish(buildOf("chain", n), entries.slice(n - 1, 39 + n));
  }

  const second = await stored("chain", 2);
  const tenth = await stored("chain", 10);
  const last = await stored("chain", 20);
  expect(second).toMatchObject({ chain: 2, entries: 40 });
  expect(second?.digest.sizeBytes).toBeLessThan((whole.index?.sizeBytes ?? 0) / 5);
  expect(tenth).toMatchObject({ chain: 2, entries: 40 });
  expect(keys(await farm.entriesOf(tenth?.digest))).toEqual(keys(entries.slice(9, 49)));
  expect(last?.chain).toBeLessThanOrEqual(2);
  expect(keys(await farm.entriesOf(last?.digest))).toEqual(keys(entries.slice(19, 59)));
});

test("an index without its base is not offered", async () => {
  const results = await someResults("baseless", 20);
  const entries = results.map((result, i) => entryOf(result, i));
  const base = await farm.publish(buildOf("baseless", 1), entries.slice(0, 18));
  await farm.publish(buildOf("baseless", 2), entries);
  const offered = async () => (await farm.granaries.resolve(buildOf("baseless", 2))).length;
  expect(await offered()).toBe(2);

  if (base.index) await farm.disk.remove(base.index);

  expect(await offered()).toBe(0);
  await farm.publish(buildOf("baseless", 2), entries);
  expect(await offered()).toBe(1);
});

test("an index whose base is lost starts again with the published entries", async () => {
  const results = await someResults("lost", 3);
  const told = results.map((result) => entryOf(result));
  const first = await farm.publish(buildOf("lost", 1), told.slice(0, 2));
  if (first.index) await farm.disk.remove(first.index);

  const next = await farm.publish(buildOf("lost", 1), told.slice(2));

  expect(keys(await farm.entriesOf(next.index))).toEqual(["k2"]);
});

describe("a hostile index", () => {
  test("gains nothing by naming results that the project lacks, or foreign blobs", async () => {
    const [mine] = await someResults("hostile", 1);
    const others = await farm.put("a blob of somebody else's");
    const theirs = await farm.aResult("elsewhere", "theirs");
    if (mine === undefined) throw new Error("nothing was kept");

    const published = await farm.publish(buildOf("hostile", 1), [
      { ...entryOf(mine), blobs: [others, mine.value, others] },
      entryOf(theirs),
      entryOf(toolResult("nobody's", others)),
    ]);

    expect(published).toMatchObject({ taken: 1, refused: 2 });
    const [entry] = await farm.entriesOf(published.index);
    expect(entry?.blobs.map(digestKey)).toEqual([digestKey(mine.value)]);
  });

  test("with a million entries is rejected", async () => {
    const one = Buffer.from(
      encodeIndex({
        base: undefined,
        entries: [entryOf(toolResult("k", await farm.put("v")))],
        removed: [],
      }),
    );
    // A message that is concatenated with itself is a valid message.
    const most = Math.floor((60 * 1024 * 1024) / one.byteLength);
    const many = await farm.put(
      Buffer.concat(Array.from({ length: Math.min(most, 1_000_000) }, () => one)),
    );

    await expect(
      farm.granaries.publishIndex(buildOf("million", 1), {
        entries: many,
        isComplete: true,
        targets: [],
        principal: "a",
      }),
    ).rejects.toMatchObject({ code: "invalid_argument" });
    expect(await stored("million", 1)).toBeUndefined();
  });

  test("with its own base is rejected", async () => {
    const base = await farm.put("anything");
    const looped = await farm.put(encodeIndex({ base, entries: [], removed: [] }));

    await expect(
      farm.granaries.publishIndex(buildOf("loop", 1), {
        entries: looped,
        isComplete: true,
        targets: [],
        principal: "a",
      }),
    ).rejects.toThrow(/must be complete/);
  });

  test("that is absent is requested", async () => {
    const digest = toolResult("x", await farm.put("x")).value;
    await farm.disk.remove(digest);

    await expect(
      farm.granaries.publishIndex(buildOf("absent", 1), {
        entries: digest,
        isComplete: true,
        targets: [],
        principal: "a",
      }),
    ).rejects.toMatchObject({ code: "failed_precondition" });
  });
});

test("rejects a commit that a known repository lacks, and accepts commits of unknown repositories", async () => {
  const [result] = await someResults("foreign", 1);
  const picky = await farmOfGranaries(db, {
    knowsCommit: async (repository, commit) => {
      if (repository !== "known/one") return "no such repository";
      return commit === sha(1) ? "known" : "unknown";
    },
  });
  const told = result ? [entryOf(result)] : [];
  const of = (n: number, repository: string) => buildOf("foreign", n, { repository });
  await picky.put("value of k0");

  await expect(picky.publish(of(2, "known/one"), told)).rejects.toMatchObject({
    code: "failed_precondition",
    message: expect.stringContaining("push it first") as string,
  });
  expect(await picky.publish(of(1, "known/one"), told)).toMatchObject({ taken: 1 });
  expect(await picky.publish(of(2, "another"), told)).toMatchObject({ taken: 1 });
  await picky.stop();
});

test("limits new indexes of a project per hour, but not the growth of existing ones", async () => {
  const few = await farmOfGranaries(db, { mostNewIndexesAnHour: 2 });
  const results = await Promise.all(["a", "b"].map((key) => few.aResult("limited", key)));
  const [a, b] = results.map((result) => [entryOf(result)]);
  for (const n of [1, 2]) await few.publish(buildOf("limited", n), a ?? []);

  await expect(few.publish(buildOf("limited", 3), a ?? [])).rejects.toMatchObject({
    code: "resource_exhausted",
    message: expect.stringContaining("2 new commit indexes within an hour") as string,
  });
  expect(await few.publish(buildOf("limited", 1), b ?? [])).toMatchObject({ taken: 1 });
  expect(await stored("limited", 1)).toMatchObject({ entries: 2 });
  await few.stop();
});

test("keeps environments separate", async () => {
  const [one, other] = await someResults("environments", 2);
  const build = buildOf("environments", 1);
  if (!one || !other) throw new Error("nothing was kept");

  await farm.publish(build, [entryOf(one)]);
  await farm.publish({ ...build, environment: "e2" }, [entryOf(other)]);

  const [found] = await farm.granaries.resolve({ ...build, environment: "e2" });
  expect(keys(await farm.entriesOf(found?.candidate.digest))).toEqual(["k1"]);
});
