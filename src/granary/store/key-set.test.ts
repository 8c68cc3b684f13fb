import fc from "fast-check";
import { expect, test } from "vitest";
import { KeySet, shortKey } from "./key-set.ts";

test("behaves like a set, also while it grows and shrinks, and with collisions", () => {
  // Multiples of 1,024 have the same slot in a small table.
  const keys = fc.oneof(
    fc.integer({ min: 1, max: 30 }),
    fc.integer({ min: 1, max: 30 }).map((n) => n * 1_024 * 64),
    fc.integer({ min: 1_010, max: 1_030 }),
  );
  const changes = fc.array(fc.tuple(fc.boolean(), keys), { maxLength: 300 });
  fc.assert(
    fc.property(changes, (all) => {
      const set = new KeySet();
      const model = new Set<number>();
      for (const [isAdded, key] of all) {
        const expected = isAdded ? !model.has(key) : model.delete(key);
        if (isAdded) model.add(key);
        expect(isAdded ? set.add(key) : set.delete(key)).toBe(expected);
        expect(set.size).toBe(model.size);
      }
      for (const [, key] of all) expect(set.has(key)).toBe(model.has(key));
    }),
  );
});

test("stores 100,000 keys, and loses none when half of them are removed", () => {
  const set = new KeySet();
  const key = (i: number) =>
    shortKey((i * 0x9e3779b97f4).toString(16).padStart(13, "0").slice(-13));
  for (let i = 1; i <= 100_000; i++) set.add(key(i));
  for (let i = 1; i <= 100_000; i += 2) set.delete(key(i));

  expect(set.size).toBe(50_000);
  for (let i = 1; i <= 100_000; i++) expect(set.has(key(i))).toBe(i % 2 === 0);
});
