import { afterAll, expect, test } from "vitest";
import { lookUpActionResult } from "#actions/action-cache.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { readKeyFilter } from "#commit-index/key-filter.ts";
import { keyText } from "#commit-index/result-key.ts";
import { digestKey } from "#core/digest.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import { farmOfGranaries, freshFarmOfGranaries, toolResult } from "./farm-of-granaries.fixture.ts";

const farm = await freshFarmOfGranaries();
const { db } = farm;
afterAll(() => farm.stop());

test("an action's result is stored for build tools, and is returned byte for byte", async () => {
  const { told, action, output, bytes, ends } = await farm.anAction("keep", "an action", {
    executionMetadata: {
      executionStartTimestamp: { seconds: 10n, nanos: 0 },
      executionCompletedTimestamp: { seconds: 11n, nanos: 500_000_000 },
    },
  });
  // The blob store lost the value; the row still exists.
  await farm.disk.remove(told.value);

  const hit = await lookUpActionResult(
    db,
    farm.trees,
    { project: "keep", domain: protectedDomain, actionDigest: action },
    "clients too",
  );
  const found = await farm.granaries.lookUp("keep", [told]);

  expect(ends).toEqual([{ kind: "kept" }]);
  expect(hit?.origin).toEqual({ kind: "client", principal: "a" });
  expect(found).toMatchObject([
    { key: told.key, value: told.value, blobs: [output], costMs: 1_500 },
  ]);
  expect(Buffer.from((await farm.blobs.get(told.value)) ?? [])).toEqual(Buffer.from(bytes));
});

test("a tool's entry is stored with its attributes, together with others", async () => {
  const manifest = await farm.put("manifest");
  const named = await farm.put("a blob that the manifest names");
  const said = { attributes: { "x-artifact-tag": "t" }, blobs: [named], costMs: 12 };
  const turbo = toolResult("slug:/1", manifest, { namespace: "turborepo", ...said });
  const plain = toolResult("k", manifest);

  const ends = await farm.granaries.publishResults("tools", [turbo, plain], "p");
  const found = await farm.granaries.lookUp("tools", [plain, turbo, toolResult("absent", named)]);

  expect(ends).toEqual([{ kind: "kept" }, { kind: "kept" }]);
  expect(new Map(found.map((result) => [keyText(result), result]))).toEqual(
    new Map([
      [keyText(turbo), expect.objectContaining({ value: manifest, ...said }) as unknown],
      [keyText(plain), expect.objectContaining({ value: manifest, attributes: {} }) as unknown],
    ]),
  );
});

test("a repeated result is known; for Nx the first value stays, for others the last", async () => {
  const [one, two] = [await farm.put("one"), await farm.put("two")];
  const publish = (namespace: "nx" | "ccache", value: typeof one) =>
    farm.granaries.publishResults("again", [toolResult("k", value, { namespace })], "p");

  expect(await publish("nx", one)).toEqual([{ kind: "kept" }]);
  expect(await publish("nx", one)).toEqual([{ kind: "known" }]);
  expect(await publish("nx", two)).toEqual([{ kind: "known" }]);
  expect(await publish("ccache", one)).toEqual([{ kind: "kept" }]);
  expect(await publish("ccache", two)).toEqual([{ kind: "kept" }]);

  const found = await farm.granaries.lookUp("again", [
    toolResult("k", one, { namespace: "nx" }),
    toolResult("k", one),
  ]);
  expect(new Map(found.map((each) => [each.namespace, each.value]))).toEqual(
    new Map([
      ["nx", one],
      ["ccache", two],
    ]),
  );
});

test("the last approximation claim counts", async () => {
  const [one, two] = [await farm.put("candidates: one"), await farm.put("candidates: two, one")];
  const approx = (value: typeof one) =>
    toolResult("approx/stale", value, { namespace: "results" as const });

  expect(await farm.granaries.publishResults("approx", [approx(one)], "p")).toEqual([
    { kind: "kept" },
  ]);
  expect(await farm.granaries.publishResults("approx", [approx(two)], "q")).toEqual([
    { kind: "kept" },
  ]);

  expect(await farm.granaries.lookUp("approx", [approx(one)])).toMatchObject([{ value: two }]);
});

test("each result has its own outcome: missing blobs are listed, invalid results are rejected", async () => {
  const here = await farm.put("here");
  const gone = digestOf(Buffer.from("never sent"));
  const value = await farm.put(Buffer.from([0xff, 0xff, 0xff]));

  const ends = await farm.granaries.publishResults(
    "ends",
    [
      toolResult("k1", gone, { blobs: [here] }),
      toolResult(digestKey(here), gone, { namespace: "reapi" }),
      toolResult(digestKey(here), value, { namespace: "reapi" }),
      toolResult("not-ac", here, { namespace: "bazel" }),
      toolResult("k2", here, { attributes: { "x-tag": "a\r\nset-cookie: b" } }),
      toolResult("k3", here),
    ],
    "p",
  );

  expect(ends.map(({ kind }) => kind)).toEqual([
    "incomplete",
    "incomplete",
    "refused",
    "refused",
    "refused",
    "kept",
  ]);
  expect(ends[0]).toEqual({ kind: "incomplete", missing: [gone] });
});

test("a result that failed, or names absent blobs, is not stored", async () => {
  const failed = await farm.anAction("failed", "a failure", { exitCode: 1 });
  const gone = toDigestMessage(digestOf(Buffer.from("gone")));
  const partial = await farm.anAction("failed", "half", {
    outputFiles: [{ path: "out", digest: gone }],
  });

  expect(failed.ends).toMatchObject([{ kind: "refused" }]);
  expect(partial.ends).toMatchObject([{ kind: "incomplete" }]);
  expect(await farm.granaries.lookUp("failed", [failed.told, partial.told])).toEqual([]);
});

test("a result with a lost blob is not found", async () => {
  const { told, output } = await farm.anAction("losses", "an action");
  const entry = await farm.aResult("losses", "k");
  expect(await farm.granaries.lookUp("losses", [told, entry])).toHaveLength(2);

  await farm.disk.remove(output);
  await farm.disk.remove(entry.value);

  expect(await farm.granaries.lookUp("losses", [told, entry])).toEqual([]);
});

test("any number of keys needs one statement per kind", async () => {
  const actions = await Promise.all([1, 2, 3].map((n) => farm.anAction("counted", `action ${n}`)));
  const entries = await Promise.all([1, 2, 3].map((n) => farm.aResult("counted", `k${n}`)));
  let statements = 0;
  const counting = await farmOfGranaries({
    ...db,
    many: (row, statement) => {
      statements++;
      return db.many(row, statement);
    },
    run: (statement) => {
      statements++;
      return db.run(statement);
    },
  });

  await counting.granaries.lookUp("counted", [...actions.map(({ told }) => told), ...entries]);

  expect(statements).toBe(2);
  await counting.stop();
});

test("a new filter contains every result that any server has stored since", async () => {
  await farm.aResult("filter-age", "early");
  const mayHave = async () => {
    const filter = await farm.granaries.keyFilter("filter-age");
    return readKeyFilter(filter ?? { bits: new Uint8Array(), hashes: 0 });
  };
  await mayHave();

  const late = await farm.aResult("filter-age", "late");
  expect((await mayHave())(late)).toBe(true);

  const action = { namespace: "reapi", key: `${"a".repeat(64)}/1` } as const;
  const other = toolResult("by another server", late.value);
  expect((await mayHave())(action)).toBe(false);
  await farm.open().publishResults("filter-age", [other], "b");
  const { told } = await farm.anAction("filter-age", "late as well");
  const has = await mayHave();
  expect([late, other, told].map(has)).toEqual([true, true, true]);
});

test("a filter with many additions is rebuilt, and then excludes absent keys again", async () => {
  await farm.aResult("filter-full", "early");
  await farm.granaries.keyFilter("filter-full");
  const value = await farm.put("of all");
  const many = Array.from({ length: 200 }, (_, n) => toolResult(`late ${n}`, value));
  await farm.granaries.publishResults("filter-full", many, "a");

  await farm.granaries.keyFilter("filter-full");
  const filter = await farm.granaries.keyFilter("filter-full");

  const has = readKeyFilter(filter ?? { bits: new Uint8Array(), hashes: 0 });
  expect(many.every(has)).toBe(true);
  const absent = many.map(({ namespace, key }) => ({ namespace, key: `not ${key}` }));
  expect(absent.filter(has).length).toBeLessThan(many.length / 10);
});

test("the filter contains all keys of a project, and few others", async () => {
  const { told } = await farm.anAction("filter", "an action");
  const entry = await farm.aResult("filter", "k");
  const elsewhere = await farm.aResult("filter-2", "k2");

  const filter = await farm.granaries.keyFilter("filter");
  const mayHave = readKeyFilter(filter ?? { bits: new Uint8Array(), hashes: 0 });

  expect([told, entry, elsewhere].map(mayHave)).toEqual([true, true, false]);
});
