import { expect, test } from "vitest";
import type { RequestedResult } from "#api/granary.ts";
import { arrivalOf, slicesOf } from "./demand.ts";

const asked = (
  source: RequestedResult["source"],
  atMs: number,
  more: Partial<RequestedResult> = {},
) => ({
  namespace: "reapi",
  key: `${source} ${atMs}`,
  source,
  because: null,
  atMs,
  bytes: 1,
  leadMs: null,
  waitedMs: 0,
  savedMs: null,
  ...more,
});

test.each([
  { of: asked("prefetched", 500, { leadMs: 200 }), at: 300 },
  { of: asked("prefetched", 500, { leadMs: 9_000 }), at: 0 },
  { of: asked("fetched", 500, { waitedMs: 70 }), at: 570 },
  { of: asked("local", 500), at: null },
  { of: asked("missed", 500), at: null },
])("$of.source, asked for at $of.atMs, was there at $at", ({ of, at }) => {
  expect(arrivalOf(of)).toBe(at);
});

test("demand and arrival add up over a build's slices", () => {
  const slices = slicesOf(
    [
      asked("prefetched", 100, { leadMs: 100 }),
      asked("fetched", 300, { waitedMs: 500 }),
      asked("local", 350),
      asked("missed", 999),
    ],
    1_000,
    4,
  );

  expect(slices.map(({ demanded, arrived }) => [demanded, arrived])).toEqual([
    [1, 1],
    [2, 1],
    [2, 1],
    [2, 2],
  ]);
  expect(slices.map(({ asked: { local, missed } }) => [local, missed])).toEqual([
    [0, 0],
    [1, 0],
    [0, 0],
    [0, 1],
  ]);
});

test("a build without duration, and requests after its end, have slices", () => {
  expect(slicesOf([], 0, 3)).toHaveLength(3);
  expect(slicesOf([asked("local", 5_000)], 10, 2)[1]?.asked.local).toBe(1);
});
