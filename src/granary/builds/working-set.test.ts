import fc from "fast-check";
import { expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { type WorkingSetResult, workingSet } from "./working-set.ts";

function result(key: string, place: string | undefined, firstMs = 0): WorkingSetResult {
  const blobs = [digestOf(Buffer.from(key))];
  return {
    entry: { namespace: "reapi", key, blobs, firstMs, savedMs: undefined, inputs: undefined },
    place,
  };
}
const keys = (results: readonly WorkingSetResult[]) => results.map(({ entry }) => entry.key);

test("a build of one leaf keeps all other results, and replaces the leaf's result", () => {
  const before = [result("leaf-1", "leaf.o", 1), result("root", "root.o", 2), result("app", "app")];
  const { results, isWhole } = workingSet(before, [
    result("leaf-2", "leaf.o", 0),
    result("app-2", "app", 9),
  ]);
  expect(keys(results)).toEqual(["leaf-2", "root", "app-2"]);
  expect(isWhole).toBe(true);
});

test("it is unknown whether results without a place are still needed", () => {
  const before = ["a", "b", "c", "d"].map((key) => result(key, undefined));
  expect(workingSet(before, [result("e", undefined)])).toMatchObject({
    results: [{ entry: { key: "e" } }],
    isWhole: false,
  });
  expect(workingSet(before, before)).toMatchObject({ isWhole: true });
});

test("keeps all requested results, no place has two, and a repeated build changes nothing", () => {
  const some = fc.uniqueArray(fc.nat(30), { maxLength: 12 });
  fc.assert(
    fc.property(some, some, (one, other) => {
      const before = one.map((n) => result(`one-${n}`, `place-${n}`, n));
      const now = other.map((n) => result(`other-${n}`, `place-${n}`, n));
      const { results } = workingSet(before, now);
      expect(new Set(results.map(({ place }) => place)).size).toBe(results.length);
      expect(keys(results)).toEqual(expect.arrayContaining(keys(now)));
      expect(results).toHaveLength(new Set([...one, ...other]).size);
      expect(keys(workingSet(results, now).results).sort()).toEqual(keys(results).sort());
    }),
  );
});
