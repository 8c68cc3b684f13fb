import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type BlobOnDisk,
  bytesUsed,
  chooseToTrim,
  chooseToTrimInTurns,
  type ResultOnDisk,
} from "./choose-to-trim.ts";

const minute = 60_000;
const now = 1_000_000 * minute;

interface Named extends ResultOnDisk {
  readonly name: string;
}

function result(name: string, ageMinutes: number, blobs: number[], isHeld = false): Named {
  return { name, usedAtMs: now - ageMinutes * minute, bytes: 1, blobs, isHeld };
}

function blob(key: number, bytes: number, ageMinutes = 60, more: Partial<BlobOnDisk> = {}) {
  return {
    key,
    bytes,
    freeBytes: bytes,
    usedAtMs: now - ageMinutes * minute,
    isHeld: false,
    ...more,
  };
}

function choose(results: readonly Named[], blobs: readonly BlobOnDisk[], limit: number) {
  const chosen = chooseToTrim(
    results,
    new Map(blobs.map((b) => [b.key, b])),
    { limitBytes: limit },
    now,
  );
  return [chosen.results.map(({ name }) => name), chosen.blobs.map(({ key }) => key)];
}

test("a store within its limit loses nothing", () => {
  expect(choose([result("a", 9, [1])], [blob(1, 99)], 100)).toEqual([[], []]);
});

test("the least recently used result is removed, with the blobs that only it names", () => {
  const results = [result("new", 5, [1, 2]), result("old", 50, [2, 3]), result("mid", 20, [4])];
  const blobs = [1, 2, 3, 4].map((key) => blob(key, 25));

  expect(choose(results, blobs, 100)).toEqual([["old"], [3]]);
});

test("removal continues until a tenth of the limit is free", () => {
  const results = Array.from({ length: 10 }, (_, i) => result(`r${i}`, 100 - i, [i]));
  const blobs = results.map((_, i) => blob(i, 10));

  // 110 bytes; down to 90 of 100.
  expect(choose(results, blobs, 100)).toEqual([
    ["r0", "r1"],
    [0, 1],
  ]);
});

test("blobs without results compete by their own age, and stay while they are young", () => {
  const results = [result("a", 100, [1]), result("b", 40, [2])];
  const blobs = [blob(1, 40), blob(2, 40), blob(3, 40, 70), blob(4, 40, 9)];

  expect(choose(results, blobs, 130)).toEqual([["a"], [1, 3]]);
  expect(choose([], [blob(4, 40, 9)], 10)).toEqual([[], []]);
});

test("data that wait for the farm stay", () => {
  const results = [result("held", 100, [1], true), result("free", 50, [2, 3])];
  const blobs = [blob(1, 50, 60, { isHeld: true }), blob(2, 50), blob(3, 50, 60, { isHeld: true })];

  expect(choose(results, blobs, 10)).toEqual([["free"], [2]]);
});

test("files that are linked from a workspace do not count, and their results are removed last", () => {
  const linked = blob(1, 500, 60, { freeBytes: 0 });
  const results = [result("linked", 100, [1]), result("other", 50, [2])];

  expect(choose(results, [linked, blob(2, 50)], 100)).toEqual([[], []]);
  expect(choose(results, [linked, blob(2, 200)], 100)).toEqual([["other"], [2]]);
});

test("times in the future count as now", () => {
  const results = [result("future", -100_000, [1]), result("past", 1, [2])];

  expect(choose(results, [blob(1, 60), blob(2, 60)], 100)).toEqual([["past"], [2]]);
});

test("other work runs during the choice, which does not change the result", async () => {
  const results = Array.from({ length: 30_000 }, (_, i) =>
    result(`r${i}`, (i * 7_919) % 50_000, [i]),
  );
  const blobs = new Map(results.map((_, i) => [i, blob(i, 10)]));
  const limit = { limitBytes: 150_000 };
  let isOver = false;
  let turns = 0;

  const choosing = chooseToTrimInTurns(results, blobs, limit, now).finally(() => {
    isOver = true;
  });
  for (; !isOver; turns++) await new Promise((resolve) => setImmediate(resolve));

  expect(turns).toBeGreaterThan(5);
  expect(await choosing).toEqual(chooseToTrim(results, blobs, limit, now));
});

test("a full disk frees a tenth, whatever the limit", () => {
  const results = Array.from({ length: 10 }, (_, i) => result(`r${i}`, 100 - i, [i]));
  const blobs = new Map(results.map((_, i) => [i, blob(i, 10)]));
  const { results: gone, usedBytes } = chooseToTrim(
    results,
    blobs,
    { limitBytes: 10 ** 9, isDiskFull: true },
    now,
  );

  expect([gone.length, usedBytes]).toEqual([2, 110]);
});

test("for any store, enough is chosen or all that may be removed; and the rest is complete", () => {
  const anyBlob = (key: number) =>
    fc
      .record({ bytes: fc.nat(50), age: fc.nat(100), isLinked: fc.boolean(), isHeld: fc.boolean() })
      .map((b) =>
        blob(key, b.bytes, b.age, { freeBytes: b.isLinked ? 0 : b.bytes, isHeld: b.isHeld }),
      );
  const anyResult = fc
    .record({
      age: fc.nat(100),
      blobs: fc.array(fc.nat(9), { maxLength: 4 }),
      isHeld: fc.boolean(),
    })
    .map((r) => result("", r.age, r.blobs, r.isHeld));
  const all = fc.record({
    results: fc.array(anyResult, { maxLength: 12 }),
    blobs: fc.tuple(...Array.from({ length: 10 }, (_, key) => anyBlob(key))),
    limit: fc.nat(300),
  });
  fc.assert(
    fc.property(all, ({ results, blobs, limit }) => {
      const byKey = new Map(blobs.map((b) => [b.key, b]));
      const chosen = chooseToTrim(results, byKey, { limitBytes: limit }, now);

      const kept = results.filter((r) => !chosen.results.includes(r));
      const removed = new Set(chosen.blobs.map(({ key }) => key));
      expect(new Set(chosen.blobs).size).toBe(chosen.blobs.length);
      for (const r of kept) for (const key of r.blobs) expect(removed.has(key)).toBe(false);
      for (const r of chosen.results) expect(r.isHeld).toBe(false);
      const left = new Map([...byKey].filter(([key]) => !removed.has(key)));
      const isFitting = bytesUsed(results, byKey) <= limit;
      const isAllGone = kept.every((r) => r.isHeld);
      const isEnough = bytesUsed(kept, left) <= limit * 0.9;
      expect(isFitting ? chosen.results.length + chosen.blobs.length : 0).toBe(0);
      expect(isFitting || isAllGone || isEnough).toBe(true);
    }),
  );
});
