import fc from "fast-check";
import { expect, test } from "vitest";
import { Digest } from "#core/digest.ts";
import { inBatches } from "./fetch-batches.ts";

const sized = (sizeBytes: number) => ({
  digest: Digest.parse({ hash: "a".repeat(64), sizeBytes }),
});
const sizes = (batches: readonly ReturnType<typeof sized>[][]) =>
  batches.map((batch) => batch.map(({ digest }) => digest.sizeBytes));

test("ends a batch at its limits of bytes and count; a blob that is too large is alone", () => {
  const limits = { mostBytes: 10, mostItems: 3 };

  expect(sizes(inBatches([4, 6, 1, 1, 1, 1, 99, 2].map(sized), limits))).toEqual([
    [4, 6],
    [1, 1, 1],
    [1],
    [99],
    [2],
  ]);
  expect(inBatches([], limits)).toEqual([]);
});

test("loses nothing, keeps the order, and no two adjacent batches would fit into one", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(50)),
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 9 }),
      (all, mostBytes, mostItems) => {
        const batches = sizes(inBatches(all.map(sized), { mostBytes, mostItems }));
        const sum = (batch: readonly number[]) => batch.reduce((a, b) => a + b, 0);
        expect(batches.flat()).toEqual(all);
        const tooMany = batches.filter((batch) => batch.length > mostItems);
        const tooLarge = batches.filter((batch) => batch.length > 1 && sum(batch) > mostBytes);
        const tooSmall = batches.filter(
          (batch, at) =>
            batch.length < mostItems &&
            sum(batch) + (batches[at + 1]?.[0] ?? Infinity) <= mostBytes,
        );
        expect([tooMany, tooLarge, tooSmall]).toEqual([[], [], []]);
      },
    ),
  );
});
