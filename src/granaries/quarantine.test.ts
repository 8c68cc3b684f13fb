import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { afterAll, expect, test } from "vitest";
import { lookUpActionResult, recordActionResult } from "#actions/action-cache.ts";
import type { Divergence } from "#api/granary.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { aReport, buildOf, entryOf, freshFarmOfGranaries } from "./farm-of-granaries.fixture.ts";
import { addBuild } from "./granary-build.store.ts";
import { quarantine, release } from "./quarantine.ts";
import { quarantineMadeFrom } from "./quarantine-made-from.ts";
import { quarantinePage } from "./quarantine-page.ts";
import { quarantineUpdate } from "./quarantine-update.ts";
import type { ReceivedResult } from "./stored-result-message.ts";

const farm = await freshFarmOfGranaries();
const { db } = farm;
afterAll(() => farm.stop());

function divergenceOf(told: ReceivedResult, more: Partial<Divergence> = {}): Divergence {
  return {
    namespace: told.namespace,
    key: told.key,
    kept: digestKey(told.value),
    madeNow: `${"0".repeat(64)}/1`,
    differs: ["out"],
    machine: "m1",
    build: null,
    at: "2026-11-22T10:00:00.000Z",
    ...more,
  };
}

/** A line of a build's report. */
const asked = (
  key: string,
  source: "prefetched" | "missed",
  atMs: number,
  namespace = "ccache",
) => ({
  namespace,
  key,
  source,
  because: null,
  atMs,
  bytes: 1,
  leadMs: null,
  waitedMs: 0,
  savedMs: null,
});

const report = (project: string, told: ReceivedResult, more?: Partial<Divergence>) =>
  farm.granaries.reportDivergence(project, divergenceOf(told, more), "checker");

const hit = (project: string, actionDigest: Digest) =>
  lookUpActionResult(
    db,
    farm.trees,
    { project, domain: protectedDomain, actionDigest },
    "clients too",
  );

test("a tool's result in quarantine is hidden from everybody until it is released", async () => {
  const told = await farm.aResult("tool", "k");
  const name = { project: "tool", tool: "ccache", key: "k", domain: protectedDomain } as const;

  expect(await report("tool", told)).toBe(true);

  const again = { ...name, digest: told.value, attributes: {}, principal: "p" };
  await farm.caches.keep(again, "replace");
  expect(await farm.caches.keep(again, "refuse")).toBe("refused");
  expect(await farm.caches.remove(name, protectedDomain)).toBe(false);
  expect(await farm.caches.find({ ...name, reader: protectedDomain })).toBeUndefined();
  expect(await farm.granaries.lookUp("tool", [told])).toEqual([]);
  expect(await farm.granaries.publishResults("tool", [told], "p")).toMatchObject([
    { kind: "refused", message: expect.stringContaining("quarantine") as string },
  ]);
  expect(await farm.publish(buildOf("tool", 1), [entryOf(told)])).toMatchObject({ taken: 0 });

  await db.transaction((tx) => release(tx, "tool", told, "root"));

  // The doubted result is not returned again; a newly made one is.
  expect(await farm.granaries.lookUp("tool", [told])).toEqual([]);
  expect(await farm.granaries.publishResults("tool", [told], "p")).toEqual([{ kind: "kept" }]);
  expect(await farm.granaries.lookUp("tool", [told])).toHaveLength(1);
});

test("an action's result in quarantine is returned neither by gRPC nor by HTTP, whoever writes it again", async () => {
  const { told, action, output, bytes } = await farm.anAction("action", "an action");
  const http = { project: "action", tool: "bazel", key: `ac/${action.hash}` } as const;

  expect(await report("action", told)).toBe(true);

  await recordActionResult(db, {
    project: "action",
    domain: protectedDomain,
    actionDigest: action,
    executionId: randomUUID(),
    attempt: 1,
    result: create(ActionResultSchema),
  });
  await farm.caches.keep(
    { ...http, domain: protectedDomain, digest: told.value, attributes: {}, principal: "p" },
    "replace",
  );
  expect(await hit("action", action)).toBeUndefined();
  expect(
    await farm.caches.actionResult({ ...http, reader: protectedDomain }, action.hash, {}),
  ).toBeUndefined();
  expect(await farm.caches.resultPutFor("action", action, protectedDomain)).toBeUndefined();
  expect(await farm.granaries.lookUp("action", [told])).toEqual([]);

  await db.transaction((tx) => release(tx, "action", told, "root"));
  expect(await hit("action", action)).toBeUndefined();
  await farm.blobs.put(told.value, bytes);
  await farm.granaries.publishResults("action", [told], "p");
  expect((await hit("action", action))?.result.outputFiles[0]?.digest?.hash).toBe(output.hash);
});

test("a quarantined entry of Bazel's HTTP cache is not returned as an action's result, and not stored as one later", async () => {
  const { told, action, bytes } = await farm.anAction("other", "an action");
  const http = { namespace: "bazel" as const, key: `ac/${action.hash}`, value: told.value };
  await farm.blobs.put(told.value, bytes);
  await farm.granaries.publishResults("late", [{ ...told, ...http, blobs: [] }], "a");
  expect(await report("late", { ...told, ...http })).toBe(true);

  // Stored neither by a REv2 client, nor by a worker, nor with another size of the action.
  await farm.granaries.publishResults("late", [told], "p");
  await recordActionResult(db, {
    project: "late",
    domain: protectedDomain,
    actionDigest: action,
    executionId: randomUUID(),
    attempt: 1,
    result: create(ActionResultSchema),
  });

  expect(await hit("late", action)).toBeUndefined();
  expect(await farm.granaries.lookUp("late", [told])).toEqual([]);
  const entry = { project: "late", tool: "bazel", key: http.key } as const;
  expect(
    await farm.caches.actionResult({ ...entry, reader: protectedDomain }, action.hash, {}),
  ).toBeUndefined();
  expect((await quarantinePage(db, "late")).results).toMatchObject([{ producer: "a" }]);

  await db.transaction((tx) => release(tx, "late", http, "root"));
  expect(await farm.granaries.publishResults("late", [told], "p")).toEqual([{ kind: "kept" }]);
  expect(await hit("late", action)).toBeDefined();
});

test("only a result that the farm still has with the doubted value goes into quarantine", async () => {
  const told = await farm.aResult("doubts", "k");

  expect(await report("doubts", { ...told, key: "nobody's" })).toBe(false);
  expect(await report("doubts", told, { kept: `${"1".repeat(64)}/1` })).toBe(false);
  expect(await report("doubts", told, { madeNow: digestKey(told.value) })).toBe(false);
  expect(await report("doubts", told, { namespace: "no tool" })).toBe(false);

  expect(await farm.granaries.lookUp("doubts", [told])).toHaveLength(1);
});

test("two granaries that find the same difference at once both succeed", async () => {
  const told = await farm.aResult("twice", "k");

  expect(await Promise.all([report("twice", told), report("twice", told)])).toEqual([true, true]);
  expect((await quarantinePage(db, "twice")).results).toHaveLength(1);
});

test("an action with two names is put into quarantine once, whoever is first", async () => {
  const { told, action } = await farm.anAction("names", "an action");
  const http = { namespace: "bazel" as const, key: `ac/${action.hash}`, value: told.value };
  await farm.granaries.publishResults("names", [{ ...told, ...http, blobs: [] }], "a");

  const ends = await Promise.all([
    report("names", told),
    report("names", { ...told, ...http }),
    report("names", told),
  ]);

  expect(ends).toEqual([true, true, true]);
  expect(await farm.granaries.lookUp("names", [told, { ...told, ...http }])).toEqual([]);
  const { results } = await quarantinePage(db, "names");
  expect(results).toHaveLength(1);
});

test("a write during the quarantine of its key is rejected", async () => {
  const told = await farm.aResult("race", "k");
  const entry = { project: "race", tool: "ccache", key: "k" } as const;
  const other = await farm.put("other");

  await Promise.all([
    report("race", told),
    ...Array.from({ length: 20 }, () =>
      farm.caches.keep(
        { ...entry, domain: protectedDomain, digest: other, attributes: {}, principal: "p" },
        "replace",
      ),
    ),
    report("race", { ...told, value: other }),
  ]);

  expect(await report("race", { ...told, value: other })).toBe(true);
  expect(await farm.caches.find({ ...entry, reader: protectedDomain })).toBeUndefined();
});

test("reports are limited per hour and principal, so nobody can empty a farm", async () => {
  const parts = { db, clock: farm.clock, domain: protectedDomain, mostAnHour: 2 };
  const results = await Promise.all(["a", "b", "c"].map((key) => farm.aResult("limit", key)));
  const [a, b, c] = results.map((told) => divergenceOf(told));
  if (!a || !b || !c) throw new Error("nothing was kept");
  await quarantine(parts, "limit", a, "hostile");
  await quarantine(parts, "limit", b, "hostile");

  await expect(quarantine(parts, "limit", c, "hostile")).rejects.toMatchObject({
    code: "resource_exhausted",
  });
  expect(await quarantine(parts, "limit", a, "hostile")).toBe(true);
  expect(await quarantine(parts, "limit", c, "another")).toBe(true);
});

test("the page shows the maker, the receivers, and how many results they made from it", async () => {
  const told = await farm.aResult("page", "k");
  const given = aReport("page", {
    asked: [asked("before", "missed", 1), asked("k", "prefetched", 5), asked("after", "missed", 9)],
  });
  const maker = aReport("page", { asked: [asked("k", "missed", 5), asked("x", "missed", 6)] });
  for (const build of [given, maker]) await farm.granaries.reportBuild(build, "p");
  await report("page", told);

  const page = await quarantinePage(db, "page");

  expect(page.results).toMatchObject([
    {
      project: "page",
      producer: "a",
      foundBy: "checker",
      releasedAt: null,
      divergence: { kept: digestKey(told.value), differs: ["out"] },
      givenTo: [{ build: given.id, machine: "m1" }],
      madeFrom: 1,
    },
  ]);
});

test("results made from it join the quarantine on request, are reported, and are released with it", async () => {
  const project = "made-from";
  const told = await farm.aResult(project, "k");
  const names = ["before", "after", "hit", "elsewhere"] as const;
  const [before, after, hit, elsewhere] = await Promise.all(
    names.map((key) => farm.aResult(project, key)),
  );
  const { told: action } = await farm.anAction(project, "made of it");
  const given = aReport(project, {
    asked: [
      asked("before", "missed", 1),
      asked("k", "prefetched", 5),
      asked("after", "missed", 9),
      asked(action.key, "missed", 10, "reapi"),
      asked("hit", "prefetched", 11),
      asked("gone", "missed", 12),
    ],
  });
  const other = aReport(project, { asked: [asked("elsewhere", "missed", 9)] });
  const later = aReport(project, {
    startedAt: "2999-01-01T00:00:00.000Z",
    endedAt: "2999-01-01T00:00:01.000Z",
    asked: [asked("k", "prefetched", 1), asked("elsewhere", "missed", 2)],
  });
  for (const build of [given, other, later]) await addBuild(db, build, "p");
  const spread = () =>
    db.transaction((tx) =>
      quarantineMadeFrom(tx, project, told, { name: "root", now: new Date() }),
    );
  const here = async () =>
    (
      await farm.granaries.lookUp(
        project,
        [told, before, after, hit, elsewhere, action].flatMap((each) => each ?? []),
      )
    )
      .map(({ key }) => key)
      .toSorted();
  await expect(spread()).rejects.toMatchObject({ code: "not_found" });
  await report(project, told);
  const { version } = await quarantineUpdate(db, project, 0);

  expect(await spread()).toBe(2);

  expect(await here()).toEqual(["before", "elsewhere", "hit"]);
  expect((await quarantinePage(db, project)).results).toMatchObject([{ alsoInQuarantine: 2 }]);
  const heard = (await quarantineUpdate(db, project, version)).results.map(({ key }) => key);
  expect(heard).toEqual(expect.arrayContaining(["after", action.key]));
  expect(heard).not.toContain("before");
  expect(await spread()).toBe(0);

  await db.transaction((tx) => release(tx, project, told, "root"));
  expect((await quarantinePage(db, project)).results).toMatchObject([{ alsoInQuarantine: 0 }]);
  if (after === undefined) throw new Error("nothing was made");
  expect(await farm.granaries.publishResults(project, [after, told], "p")).toEqual([
    { kind: "kept" },
    { kind: "kept" },
  ]);
});

test("a granary receives the quarantined keys, under both names, once, and in parts", async () => {
  const tool = await farm.aResult("news", "k");
  const { told: action, action: digest } = await farm.anAction("news", "an action");
  const later = await farm.aResult("news", "later");
  await report("news", tool);
  await report("news", action);
  const bothNames = [
    { namespace: "reapi", key: action.key },
    { namespace: "bazel", key: `ac/${digest.hash}` },
  ];

  const first = await quarantineUpdate(db, "news", 0, 1);
  const second = await quarantineUpdate(db, "news", first.version, 1);
  const third = await quarantineUpdate(db, "news", second.version, 1);

  expect(first.results).toEqual([{ namespace: "ccache", key: "k" }]);
  expect(second.results).toEqual(bothNames);
  expect(third).toEqual({ results: [], version: second.version });
  await report("news", later);
  await db.transaction((tx) => release(tx, "news", tool, "root"));
  expect(await quarantineUpdate(db, "news", second.version)).toMatchObject({
    results: [{ namespace: "ccache", key: "later" }],
  });
  // For a version from another farm, or from before this farm lost its data, everything is sent.
  const { version } = await quarantineUpdate(db, "news", 10 ** 9);
  expect((await quarantineUpdate(db, "news", version)).results).toEqual([]);
  expect(version).toBeLessThan(10 ** 9);
  expect((await quarantineUpdate(db, "another project", 0)).results).toEqual([]);
});

test("a key that is released and doubted again is reported again", async () => {
  const told = await farm.aResult("again", "k");
  await report("again", told);
  const { version } = await quarantineUpdate(db, "again", 0);
  await db.transaction((tx) => release(tx, "again", told, "root"));
  await farm.granaries.publishResults("again", [told], "p");

  await report("again", told);

  expect((await quarantineUpdate(db, "again", version)).results).toEqual([
    { namespace: "ccache", key: "k" },
  ]);
});

test("a key that is not in quarantine cannot be released", async () => {
  await expect(
    db.transaction((tx) => release(tx, "none", { namespace: "ccache", key: "k" }, "root")),
  ).rejects.toMatchObject({ code: "not_found" });
});
