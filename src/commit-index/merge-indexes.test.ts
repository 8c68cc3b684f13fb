import fc from "fast-check";
import { expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { digestKey } from "#core/digest.ts";
import { anyIndex, entry } from "./entries.fixture.ts";
import type { IndexEntry } from "./index-entry.ts";
import { mergeIndexes } from "./merge-indexes.ts";
import { keyText } from "./result-key.ts";

/**
 * Returns entries without the order of their other blobs: only the position of the value matters.
 */
function plain(entries: readonly IndexEntry[]) {
  return entries.map((one) => ({ ...one, blobs: one.blobs.map(digestKey).sort() }));
}

test("the order of builds makes no difference", () => {
  fc.assert(
    fc.property(anyIndex, anyIndex, (a, b) => {
      expect(plain(mergeIndexes([a, b]))).toEqual(plain(mergeIndexes([b, a])));
    }),
  );
});

test("the grouping of builds makes no difference", () => {
  fc.assert(
    fc.property(anyIndex, anyIndex, anyIndex, (a, b, c) => {
      const whole = mergeIndexes([a, b, c]);
      expect(mergeIndexes([mergeIndexes([a, b]), c])).toEqual(whole);
      expect(mergeIndexes([a, mergeIndexes([b, c])])).toEqual(whole);
    }),
  );
});

test("neither a repeated build nor a build without requests changes anything", () => {
  fc.assert(
    fc.property(anyIndex, (a) => {
      const once = mergeIndexes([a]);
      expect(mergeIndexes([once, a])).toEqual(once);
      expect(mergeIndexes([once, []])).toEqual(once);
      expect(mergeIndexes([[], once])).toEqual(once);
    }),
  );
});

test("no entry is lost, and no entry becomes later", () => {
  fc.assert(
    fc.property(anyIndex, anyIndex, (a, b) => {
      const merged = new Map(mergeIndexes([a, b]).map((one) => [keyText(one), one]));
      for (const one of [...a, ...b]) {
        const kept = merged.get(keyText(one));
        expect(kept?.blobs).toEqual(expect.arrayContaining([...one.blobs]));
        expect(kept?.firstMs).toBeLessThanOrEqual(one.firstMs);
        expect(kept?.inputs ?? []).toEqual(expect.arrayContaining([...(one.inputs ?? [])]));
        expect(kept?.savedMs ?? Infinity).toBeLessThanOrEqual(one.savedMs ?? Infinity);
      }
      expect([...merged.values()].map((one) => one.firstMs)).toEqual(
        [...merged.values()].map((one) => one.firstMs).sort((x, y) => x - y),
      );
    }),
  );
});

test("the earlier index's value comes first", () => {
  const [older, newer] = ["older", "newer"].map((text) => digestOf(Buffer.from(text)));
  if (older === undefined || newer === undefined) throw new Error("two digests");

  const [merged] = mergeIndexes([
    [entry("k", 5, { blobs: [older] })],
    [entry("k", 2, { blobs: [newer] })],
  ]);

  expect(merged).toEqual(entry("k", 2, { blobs: [older, newer] }));
});

test("the shortest known time counts; an unknown time stays unknown", () => {
  const builds = [2_000, undefined, 1_000].map((savedMs) => [entry("k", 0, { savedMs })]);

  expect(mergeIndexes(builds)[0]?.savedMs).toBe(1_000);
  expect(mergeIndexes([[entry("k")], [entry("k")]])[0]?.savedMs).toBeUndefined();
});
