import fc from "fast-check";
import { expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { deltaTo } from "./delta-to.ts";
import { anyIndex, entry } from "./entries.fixture.ts";
import { applyDelta } from "./resolve-chain.ts";
import { keyText } from "./result-key.ts";

const digest = digestOf(Buffer.from("base"));
const many = Array.from({ length: 100 }, (_, at) => entry(`key ${at}`, at * 10));

test("with its base, a stored index has the same results in both forms", () => {
  fc.assert(
    fc.property(anyIndex, anyIndex, fc.integer({ min: 1, max: 8 }), (before, entries, chain) => {
      const stored = deltaTo(entries, { digest, entries: before, chain });

      const { delta } = stored;
      const resolved = applyDelta(delta.base === undefined ? [] : before, delta);
      expect(resolved.map(keyText).sort()).toEqual(entries.map(keyText).sort());
      expect(stored.chain).toBe(delta.base === undefined ? 1 : chain + 1);
      const blobs = new Map(resolved.map((one) => [keyText(one), one.blobs]));
      for (const one of entries) expect(blobs.get(keyText(one))).toEqual(one.blobs);
    }),
  );
});

test("stores changed entries, but not entries that are only slightly later", () => {
  const entries = [...many.slice(1), entry("new")].map((one) => ({
    ...one,
    firstMs: one.firstMs + 90,
  }));

  const { delta, chain } = deltaTo(entries, { digest, entries: many, chain: 3 });

  expect(delta.entries.map(({ key }) => key)).toEqual(["new"]);
  expect(delta.removed.map(({ key }) => key)).toEqual(["key 0"]);
  expect(chain).toBe(4);
});

test.each([
  ["nothing to build on", undefined],
  ["a base of eight blobs", { digest, entries: many, chain: 8 }],
  ["a base that has hardly anything of it", { digest, entries: many.slice(0, 40), chain: 1 }],
])("it stands alone with %s", (_, base) => {
  const { delta, chain } = deltaTo(many, base);

  expect(delta).toEqual({ base: undefined, entries: many, removed: [] });
  expect(chain).toBe(1);
});

test("keeps a newly known time", () => {
  const entries = many.map((one, at) => (at === 0 ? { ...one, savedMs: 70 } : one));

  expect(deltaTo(entries, { digest, entries: many, chain: 1 }).delta.entries).toEqual([entries[0]]);
});
