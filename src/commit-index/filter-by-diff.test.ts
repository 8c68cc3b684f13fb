import { expect, test } from "vitest";
import { entry } from "./entries.fixture.ts";
import { filterByDiff, stillRequested } from "./filter-by-diff.ts";

test.each([
  { inputs: ["src/a.c"], changed: ["src/a.c"], dropped: true },
  { inputs: ["src/a.c"], changed: ["src/b.c"], dropped: false },
  { inputs: ["src/a.c"], changed: ["src/a.cc"], dropped: false },
  { inputs: ["src/"], changed: ["src/deep/er/a.c"], dropped: true },
  { inputs: ["src/"], changed: ["src2/a.c", "other"], dropped: false },
  { inputs: ["src/deep/a.c"], changed: ["src/"], dropped: true },
  { inputs: ["src/deep/a.c"], changed: ["src"], dropped: true },
  { inputs: ["vendor/"], changed: ["vendor"], dropped: true },
  { inputs: ["x", "top"], changed: ["top"], dropped: true },
  { inputs: ["x/"], changed: ["y/z"], dropped: false },
])("of $inputs after $changed", ({ inputs, changed, dropped }) => {
  const filtered = filterByDiff([entry("k", 0, { inputs })], changed, 1);

  expect(filtered.dropped).toHaveLength(dropped ? 1 : 0);
  expect(filtered.expected).toHaveLength(dropped ? 0 : 1);
});

test("an entry without reported inputs stays, with a confidence that falls with distance", () => {
  const at = (distance: number) =>
    filterByDiff([entry("k")], ["a"], distance).expected[0]?.confidence ?? 0;

  expect(at(0)).toBe(0.93);
  expect(at(1)).toBe(0.93);
  expect(at(3)).toBeCloseTo(0.805);
  expect(at(32)).toBe(0.44);
  expect(at(1_000)).toBe(0.3);
});

test("an entry without changed inputs is nearly certain at any distance", () => {
  const { expected } = filterByDiff([entry("k", 0, { inputs: ["a"] })], ["b"], 32);

  expect(expected[0]?.confidence).toBeGreaterThan(0.9);
});

test("without changes every entry is expected; when the changes are unknown, with a lower confidence", () => {
  const entries = [entry("k"), entry("l", 0, { inputs: ["a"] })];

  expect(filterByDiff(entries, [], 5).expected.map((one) => one.confidence)).toEqual([1, 1]);
  const unknown = filterByDiff(entries, undefined, 8);
  expect(unknown.expected.map((one) => one.confidence)).toEqual([0.7, 0.7]);
  expect(unknown.dropped).toEqual([]);
});

test("confidence never rises with distance", () => {
  const all = Array.from({ length: 100 }, (_, distance) => stillRequested(distance));

  expect(all).toEqual([...all].sort((a, b) => b - a));
});
