import { expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { entry } from "./entries.fixture.ts";
import { wantMissing } from "./want-missing.ts";

const shared = digestOf(Buffer.from("shared"));
const own = digestOf(Buffer.from("own"));
const nothingHere = { has: () => false, hasBlob: () => false };

test("of several indexes each result is wanted once, by the more likely, in order of first use", () => {
  const near = [{ entry: entry("b", 20), confidence: 1 }];
  const far = [
    { entry: entry("b", 5), confidence: 0.5 },
    { entry: entry("a", 10), confidence: 0.5 },
  ];

  const wanted = wantMissing([near, far], nothingHere);

  expect(wanted.map(({ item, firstMs, confidence }) => [item.key, firstMs, confidence])).toEqual([
    ["a", 10, 0.5],
    ["b", 20, 1],
  ]);
});

test("a blob of two results is on the line once, and not at all when it is here", () => {
  const expected = [
    { entry: entry("a", 1, { blobs: [shared] }), confidence: 1 },
    { entry: entry("b", 2, { blobs: [own, shared] }), confidence: 1 },
  ];

  expect(wantMissing([expected], nothingHere).map(({ bytes }) => bytes)).toEqual([6, 3]);
  const here = {
    has: () => false,
    hasBlob: (digest: { hash: string }) => digest.hash === own.hash,
  };
  expect(wantMissing([expected], here).map(({ bytes }) => bytes)).toEqual([6, 0]);
});

test("what is here whole is not wanted; what has lost a blob is", () => {
  const expected = [{ entry: entry("a", 1, { blobs: [own] }), confidence: 1 }];

  expect(wantMissing([expected], { has: () => true, hasBlob: () => true })).toEqual([]);
  expect(wantMissing([expected], { has: () => true, hasBlob: () => false })).toHaveLength(1);
});
