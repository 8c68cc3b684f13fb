import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { digestKey } from "#core/digest.ts";
import type { FetchedThing } from "../farm/granary-farm.ts";
import { freshStore, keepResult } from "../store/granary-store.fixture.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import { expectedOf, type FetchingFarm, fetchingFarm, keyOf } from "./fetching-farm.fixture.ts";
import { sharedTransfers } from "./shared-transfers.ts";
import { type PrefetchParts, startPrefetch } from "./start-prefetch.ts";

type SceneOptions = Partial<Omit<PrefetchParts, "store">> & { readonly store?: GranaryStore };

async function scene(farm: FetchingFarm, options: SceneOptions = {}) {
  const store = options.store ?? (await freshStore()).store;
  const prefetch = startPrefetch({
    project: "p",
    store,
    farm,
    shared: sharedTransfers(),
    limits: { bytes: 1e9, results: 1e6 },
    elapsedMs: () => 0,
    ...options,
  });
  onTestFinished(() => prefetch.stop());
  return { store, prefetch };
}

/** Returns a gate that holds the farm's data until the test opens it. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let reached = () => {};
  const atGate = new Promise<void>((resolve) => {
    reached = resolve;
  });
  return {
    open,
    atGate,
    async pass() {
      reached();
      await opened;
    },
  };
}

test("results of an index are present before they are requested, in the order of first use", async () => {
  const farm = fetchingFarm();
  const late = farm.has("late", ["value of late", "blob of late"]);
  const soon = farm.has("soon", ["value of soon"]);
  const { store, prefetch } = await scene(farm);

  prefetch.expect([expectedOf(late, 90_000), expectedOf(soon, 1_000)]);
  prefetch.planned(undefined);
  await prefetch.settled();

  expect(await store.find("p", soon)).toMatchObject({ value: soon.value, project: "p" });
  expect(await store.find("p", late)).toMatchObject({ blobs: late.blobs });
  // Each result is followed by its own blobs, so that the first is complete before the last has arrived.
  expect(farm.words()).toEqual(["soon", "value of soon", "late", "value of late", "blob of late"]);
  expect(prefetch.leadMs(keyOf("late"))).toBeGreaterThanOrEqual(0);
  expect(prefetch.transferred().blobs).toHaveLength(3);
});

test("results that arrived with an index are used first, and not requested", async () => {
  const farm = fetchingFarm();
  const along = farm.has("along", ["value of along", "blob of along"]);
  const other = farm.has("other", ["value of other"]);
  const dropped = farm.has("dropped", ["value of dropped"]);
  const things: FetchedThing[] = [];
  for (const { value, blobs, ...result } of [along, dropped]) {
    const requests = [value, ...blobs].map((digest) => ({ kind: "blob" as const, digest }));
    things.push({ kind: "result", result: { ...result, value, blobs } });
    for await (const thing of farm.fetch("p", requests, new AbortController().signal)) {
      things.push(thing);
    }
  }
  farm.asked.length = 0;
  const never = gate();
  farm.before = () => never.pass();
  const { store, prefetch } = await scene(farm);

  prefetch.expect([expectedOf(other, 1), expectedOf(along, 2)], undefined, things);
  await never.atGate;
  while (!store.has("p", along)) await setImmediate();

  expect(await store.find("p", along)).toMatchObject({ blobs: along.blobs });
  expect(store.has("p", other)).toBe(false);
  never.open();
  prefetch.planned(undefined);
  await prefetch.settled();
  expect(farm.words()).toEqual(["other", "value of other"]);
  expect(store.has("p", dropped)).toBe(false);
});

test("a corrupt blob among them is not stored, and neither is its result", async () => {
  const farm = fetchingFarm();
  const result = farm.has("k", ["the value"]);
  const { store, prefetch } = await scene(farm);
  const wrong: FetchedThing[] = [
    { kind: "result", result },
    { kind: "part", digest: result.value, offset: 0, data: Buffer.from("THE VALUE") },
  ];

  prefetch.expect([expectedOf(result, 1)], undefined, wrong);
  prefetch.planned(undefined);
  await prefetch.settled();

  expect(await store.blobs.get(result.value)).toBeUndefined();
  expect(store.has("p", result)).toBe(false);
});

test("a machine that has everything requests nothing", async () => {
  const farm = fetchingFarm();
  const { store } = await freshStore();
  const result = await keepResult(store, "k", ["value", "blob"]);
  const { prefetch } = await scene(farm, { store });

  prefetch.expect([expectedOf(result, 10)]);
  prefetch.planned(undefined);
  prefetch.hint([result]);
  await prefetch.settled();

  expect(farm.asked).toEqual([]);
  expect(prefetch.leadMs(result)).toBeUndefined();
});

test("announced results are fetched before results that are only expected", async () => {
  const farm = fetchingFarm();
  const large = Array.from({ length: 6 }, (_, i) => farm.has(`e${i}`, [`${i}`.repeat(300_000)]));
  const hinted = farm.has("hinted", ["the value", "the blob"]);
  const first = gate();
  farm.before = () => first.pass();
  const { store, prefetch } = await scene(farm, { bytesPerSecond: 1_000_000_000 });
  farm.measured = { roundTripMs: 0, bytesPerSecond: 1_000_000 };

  prefetch.expect(large.map((result, i) => expectedOf(result, 1_000 + i * 5_000)));
  await first.atGate;
  prefetch.hint([keyOf("hinted")]);
  first.open();
  prefetch.planned(undefined);
  await prefetch.settled();

  const keys = farm.words().filter((word) => /^[eh]/.test(word));
  expect(keys.indexOf("hinted")).toBeLessThan(keys.indexOf("e3"));
  expect(await store.find("p", hinted)).toBeDefined();
});

test("a result is available as soon as all of it is present, however long its window takes", async () => {
  const farm = fetchingFarm();
  const soon = farm.has("soon", ["value of soon", "blob of soon"]);
  const late = farm.has("late", ["value of late"]);
  const rest = gate();
  farm.before = (thing) =>
    thing.kind === "part" && digestKey(thing.digest) === digestKey(late.value)
      ? rest.pass()
      : undefined;
  const { store, prefetch } = await scene(farm);

  prefetch.expect([expectedOf(soon, 1_000), expectedOf(late, 90_000)]);
  prefetch.planned(undefined);
  await setImmediate();
  await prefetch.coming(keyOf("soon"));

  expect(await store.find("p", soon)).toMatchObject({ blobs: soon.blobs });
  expect(prefetch.leadMs(keyOf("soon"))).toBeGreaterThanOrEqual(0);
  expect(await store.find("p", late)).toBeUndefined();
  rest.open();
  await prefetch.settled();
  expect(await store.find("p", late)).toBeDefined();
  expect(farm.asked).toHaveLength(1);
});

test("a reader of arrivals gets each result once as it arrives, and knows what is still to come", async () => {
  const farm = fetchingFarm();
  const soon = farm.has("soon", ["value of soon"]);
  const late = farm.has("late", ["value of late"]);
  const rest = gate();
  farm.before = (thing) =>
    thing.kind === "part" && digestKey(thing.digest) === digestKey(late.value)
      ? rest.pass()
      : undefined;
  const { prefetch } = await scene(farm);
  const arrivals = prefetch.arrivals(new AbortController().signal)[Symbol.asyncIterator]();

  const first = arrivals.next();
  expect(prefetch.outlook()).toBeUndefined();
  prefetch.expect([expectedOf(soon, 1_000), expectedOf(late, 90_000)]);
  prefetch.planned(undefined);

  expect((await first).value).toMatchObject({ key: { key: "soon" }, result: soon });
  await rest.atGate;
  const seen = prefetch.outlook()?.expected.map(({ key, firstMs }) => [key.key, firstMs]);
  expect(seen).toEqual([
    ["soon", 1_000],
    ["late", 90_000],
  ]);
  expect(prefetch.outlook()?.expected[1]).toMatchObject({ isHere: false });
  rest.open();
  expect((await arrivals.next()).value).toMatchObject({ key: { key: "late" }, result: late });
  expect((await arrivals.next()).done).toBe(true);
  expect(prefetch.outlook()?.expected.every(({ isHere }) => isHere)).toBe(true);
});

test("nothing is expected from an unreachable farm", async () => {
  const farm = fetchingFarm();
  const one = farm.has("one", ["value"]);
  const { prefetch } = await scene(farm);
  farm.away = true;

  prefetch.expect([expectedOf(one, 1_000)]);
  prefetch.planned(undefined);

  expect(prefetch.outlook()?.expected).toEqual([]);
});

test("results that are requested before the index is read are fetched first", async () => {
  const farm = fetchingFarm();
  farm.measured = { roundTripMs: 0, bytesPerSecond: 1_000_000 };
  const results = Array.from({ length: 4 }, (_, i) => farm.has(`e${i}`, [`${i}`.repeat(300_000)]));
  const { prefetch } = await scene(farm);

  const known = prefetch.planning?.(keyOf("e2"));
  const unnamed = prefetch.planning?.(keyOf("other"));
  prefetch.expect(results.map((result, i) => expectedOf(result, 1_000 + i * 5_000)));
  await Promise.all([known, unnamed]);
  expect(prefetch.coming(keyOf("e2"))).toBeDefined();
  expect(prefetch.coming(keyOf("other"))).toBeUndefined();
  expect(prefetch.planning?.(keyOf("e3"))).toBeUndefined();
  prefetch.planned(undefined);
  await prefetch.settled();

  const keys = farm.words().filter((word) => /^(e|other)/.test(word));
  expect(keys).toEqual(["e2", "e0", "e1", "e3"]);
});

test("while a build itself waits for the farm, nothing further is requested", async () => {
  const farm = fetchingFarm();
  farm.measured = { roundTripMs: 0, bytesPerSecond: 1_000_000 };
  const results = Array.from({ length: 4 }, (_, i) => farm.has(`e${i}`, [`${i}`.repeat(300_000)]));
  const { prefetch } = await scene(farm);

  const done = prefetch.pauseForForeground();
  prefetch.expect(results.map((result, i) => expectedOf(result, 10_000 + i)));
  prefetch.planned(undefined);
  await setImmediate();
  await setImmediate();
  expect(farm.asked).toEqual([]);

  done();
  await prefetch.settled();
  expect(farm.asked.length).toBeGreaterThan(2);
});

test("on a fast line, prefetching overtakes even a build that always waits for something", async () => {
  const farm = fetchingFarm();
  farm.measured = { roundTripMs: 20, bytesPerSecond: 12_500_000 };
  const results = Array.from({ length: 40 }, (_, i) => farm.has(`e${i}`, [`${i} `.repeat(10_000)]));
  const { store, prefetch } = await scene(farm);

  prefetch.pauseForForeground();
  prefetch.expect(results.map((result, i) => expectedOf(result, 10_000 + i)));
  prefetch.planned(undefined);
  await prefetch.settled();

  for (const result of results) expect(store.has("p", result)).toBe(true);
  expect(farm.asked.length).toBeGreaterThan(1);
});

test("a large blob pauses while a build waits", async () => {
  const farm = fetchingFarm();
  farm.measured = { roundTripMs: 0, bytesPerSecond: 1_000_000 };
  farm.partBytes = 100_000;
  const large = farm.has("large", ["x".repeat(3_000_000)]);
  let parts = 0;
  let done: (() => void) | undefined;
  const given = gate();
  farm.before = (thing) => {
    if (thing.kind !== "part") return;
    parts += 1;
    if (parts === 5) {
      done = prefetch.pauseForForeground();
      given.open();
    }
  };
  const { store, prefetch } = await scene(farm);

  prefetch.expect([expectedOf(large, 60_000, 60_000)]);
  prefetch.planned(undefined);
  await given.pass();
  for (let i = 0; i < 20; i++) await setImmediate();
  expect(parts).toBeLessThanOrEqual(6);

  done?.();
  await prefetch.settled();
  expect(await store.find("p", large)).toBeDefined();
});

test("the end of the build ends its transfers", async () => {
  const farm = fetchingFarm();
  const result = farm.has("k", ["value"]);
  const first = gate();
  farm.before = () => first.pass();
  const { store, prefetch } = await scene(farm);

  prefetch.expect([expectedOf(result, 10)]);
  await first.atGate;
  const stopped = prefetch.stop();
  first.open();
  await stopped;
  await prefetch.settled();

  expect(await store.find("p", result)).toBeUndefined();
  expect(farm.asked).toHaveLength(1);
});

test.each([
  { limits: { bytes: 250_000, results: 100 }, mark: "prefetch-bytes", fetched: 2 },
  { limits: { bytes: 1e9, results: 3 }, mark: "prefetch-results", fetched: 3 },
])("limits leave out the rest, and say so: $mark", async ({ limits, mark, fetched }) => {
  const farm = fetchingFarm();
  const results = Array.from({ length: 10 }, (_, i) => farm.has(`e${i}`, [`${i}`.repeat(100_000)]));
  const { store, prefetch } = await scene(farm, { limits });

  prefetch.expect(results.map((result, i) => expectedOf(result, 60_000 + i)));
  prefetch.planned(undefined);
  await prefetch.settled();

  const here = results.filter((result) => store.has("p", result));
  expect(here).toHaveLength(fetched);
  expect(prefetch.transferred().truncated).toEqual([mark]);
  const left = results.find((result) => !store.has("p", result));
  expect(left && prefetch.whyNot(left)).toBe("over-budget");
});

test("two builds that want the same blobs share one transfer", async () => {
  const farm = fetchingFarm();
  const shared = sharedTransfers();
  const { store } = await freshStore();
  const one = farm.has("one", ["value of one", "the same blob"]);
  const two = farm.has("two", ["value of two", "the same blob"]);
  const first = gate();
  farm.before = (thing) => (thing.kind === "part" ? first.pass() : undefined);
  const a = await scene(farm, { store, shared });
  const b = await scene(farm, { store, shared });

  a.prefetch.expect([expectedOf(one, 60_000)]);
  a.prefetch.planned(undefined);
  await first.atGate;
  expect(a.prefetch.coming(keyOf("one"))).toBeDefined();
  b.prefetch.expect([expectedOf(one, 60_000), expectedOf(two, 60_000)]);
  b.prefetch.planned(undefined);
  await setImmediate();
  first.open();
  await Promise.all([a.prefetch.settled(), b.prefetch.settled()]);

  expect(farm.words().filter((word) => word === "the same blob")).toHaveLength(1);
  expect(await store.find("p", one)).toBeDefined();
  expect(await store.find("p", two)).toBeDefined();
  expect(
    shared.coming(`blob ${digestKey(digestOf(Buffer.from("the same blob")))}`),
  ).toBeUndefined();
});

test("two builds that each hold what the other waits for both end", async () => {
  const farm = fetchingFarm();
  const shared = sharedTransfers();
  const { store } = await freshStore();
  const results = Array.from({ length: 20 }, (_, i) => farm.has(`k${i}`, [`value ${i}`, "shared"]));
  const a = await scene(farm, { store, shared });
  const b = await scene(farm, { store, shared });

  a.prefetch.expect(results.map((result, i) => expectedOf(result, 60_000 + i)));
  b.prefetch.expect(results.map((result, i) => expectedOf(result, 60_000 - i)));
  a.prefetch.planned(undefined);
  b.prefetch.planned(undefined);
  await Promise.all([a.prefetch.settled(), b.prefetch.settled()]);

  expect(results.every((result) => store.has("p", result))).toBe(true);
});

test("a corrupt blob is not stored, and neither is a result that names it", async () => {
  const farm = fetchingFarm();
  const rotten = farm.has("rotten", ["value of rotten", "right bytes"]);
  const good = farm.has("good", ["value of good"]);
  farm.rotten.set(digestKey(digestOf(Buffer.from("right bytes"))), Buffer.from("wrong bytes"));
  const { store, prefetch } = await scene(farm);

  prefetch.expect([expectedOf(rotten, 60_000), expectedOf(good, 90_000)]);
  prefetch.planned(undefined);
  await prefetch.settled();

  expect(await store.find("p", rotten)).toBeUndefined();
  expect(await store.blobs.get(digestOf(Buffer.from("right bytes")))).toBeUndefined();
  expect(await store.blobs.get(digestOf(Buffer.from("wrong bytes")))).toBeUndefined();
});

test("blobs that a result names beyond its index are fetched, too: a result is stored completely or not at all", async () => {
  const farm = fetchingFarm();
  const result = farm.has("k", ["value", "asked for", "never asked for"]);
  const { store, prefetch } = await scene(farm);
  const { entry, confidence } = expectedOf(result, 60_000);

  prefetch.expect([{ entry: { ...entry, blobs: entry.blobs.slice(0, 2) }, confidence }]);
  prefetch.planned(undefined);
  await prefetch.settled();

  expect(await store.find("p", result)).toMatchObject({ blobs: result.blobs });
});

test("the reason why a result was late is known", async () => {
  const farm = fetchingFarm();
  const gone = farm.has("gone", ["value of gone", "lost"]);
  farm.forgetBlob("lost");
  const { prefetch } = await scene(farm);
  expect(prefetch.whyNot(keyOf("other"))).toBe("overtaken");

  const known = expectedOf(farm.has("unmade", ["u"]), 60_000);
  prefetch.expect([expectedOf(gone, 60_000), known], ({ key }) => key !== "unmade");
  prefetch.planned(undefined);
  await prefetch.settled();

  expect(prefetch.whyNot(keyOf("gone"))).toBe("incomplete");
  expect(prefetch.whyNot(keyOf("unmade"))).toBe("never-made");
  expect(prefetch.whyNot(keyOf("other"))).toBe("not-indexed");
});

test("results that the build requested itself are not prefetched any more", async () => {
  const farm = fetchingFarm();
  const results = Array.from({ length: 4 }, (_, i) => farm.has(`e${i}`, [`${i}`.repeat(300_000)]));
  const { prefetch } = await scene(farm);
  const done = prefetch.pauseForForeground();
  prefetch.expect(results.map((result, i) => expectedOf(result, 60_000 + i)));
  prefetch.planned(undefined);

  prefetch.asked(keyOf("e2"));
  done();
  await prefetch.settled();

  expect(farm.words()).not.toContain("e2");
  expect(prefetch.whyNot(keyOf("e2"))).toBe("overtaken");
});
