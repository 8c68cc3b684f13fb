import fc from "fast-check";
import { expect, test } from "vitest";
import { KeyMap } from "./key-map.ts";

test("behaves like a map, also with many collisions, and returns replaced places", () => {
  const step = fc.record({
    // Few slots for many keys, so that removals must close gaps.
    key: fc.integer({ min: 1, max: 40 }).map((n) => n * 512),
    remove: fc.boolean(),
    at: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    segment: fc.integer({ min: 1, max: 2 ** 20 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (all) => {
      const map = new KeyMap();
      const model = new Map<number, object>();
      for (const { key, remove, at, segment } of all) {
        const packed = { segment, at, bytes: at % 1_000, usedAtS: segment };
        const before = remove ? map.delete(key) : map.set(key, packed);
        expect(before).toEqual(model.get(key));
        if (remove) model.delete(key);
        else model.set(key, packed);
      }
      expect(new Map(map.entries())).toEqual(model);
      expect(map.size).toBe(model.size);
      for (const [key, packed] of model) expect(map.get(key)).toEqual(packed);
    }),
  );
});

test("grows, and loses nothing", () => {
  const map = new KeyMap();
  for (let key = 1; key <= 5_000; key++)
    map.set(key * 7, { segment: 1, at: key, bytes: 1, usedAtS: 1 });
  expect(map.size).toBe(5_000);
  expect(map.get(7 * 4_999)?.at).toBe(4_999);
});
