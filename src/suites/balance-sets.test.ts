import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { balanceSets } from "./balance-sets.ts";
import { parseSuite } from "./read-suite.ts";
import { smallDefinition } from "./suite.fixture.ts";

function suiteWith(sets: Readonly<Record<string, number>>) {
  const { runtime: _, toolchain: __, ...definition } = smallDefinition();
  const benchmarks = Object.fromEntries(Object.entries(sets).map(([name, set]) => [name, { set }]));
  return parseSuite({ ...definition, compile: { command: ["{tool}"], benchmarks } }, "test");
}

function balanced(
  sets: Readonly<Record<string, number>>,
  minutes: Readonly<Record<string, number>>,
  count?: number,
) {
  return balanceSets(suiteWith(sets), "linux-x64", new Map(Object.entries(minutes)), count);
}

describe("the example of the original project", () => {
  const minutes = { A: 4, B: 20, C: 6, D: 10 };

  test.each([
    { now: { A: 0, B: 0, C: 0, D: 0 }, moves: 1 },
    { now: { A: 0, B: 0, C: 1, D: 1 }, moves: 1 },
    { now: { A: 0, B: 1, C: 0, D: 0 }, moves: 0 },
    { now: { A: 1, B: 1, C: 0, D: 0 }, moves: 1 },
  ])("from $now it is B beside A, C and D, by $moves moves", ({ now, moves }) => {
    const found = balanced(now, minutes, 2);

    const together = found.sets.map(({ benchmarks }) => benchmarks.join("")).toSorted();
    expect(together).toEqual(["ACD", "B"]);
    expect(found.sets.map(({ secondsAfter }) => secondsAfter)).toEqual([20, 20]);
    expect(found.moves).toHaveLength(moves);
  });
});

test("a gain of two percent does not justify a move", () => {
  expect(balanced({ a: 0, b: 0, c: 1 }, { a: 50, b: 1, c: 50 }).moves).toEqual([]);
});

test("benchmarks without measurements stay, and are reported", () => {
  const found = balanced({ a: 0, b: 0, c: 0 }, { a: 5, b: 5 }, 2);

  expect(found.unknown).toEqual(["c"]);
  expect(found.sets[0]?.benchmarks).toContain("c");
  expect(found.moves).toHaveLength(1);
});

test("all benchmarks leave a set that no longer exists, also those without measurements", () => {
  const found = balanced({ a: 0, b: 1, c: 2 }, { a: 5, b: 5 }, 2);

  expect(found.sets.map(({ benchmarks }) => benchmarks)).toEqual([["a"], ["b", "c"], []]);
  expect(found.moves).toEqual([{ benchmark: "c", from: 2, to: 1 }]);
});

// Too many placements to try all, or few enough to try all.
const cases = fc.integer({ min: 1, max: 4 }).chain((count) =>
  fc.record({
    count: fc.constant(count),
    items: fc.array(
      fc.record({
        set: fc.integer({ min: 0, max: count - 1 }),
        minutes: fc.integer({ min: 0, max: 500 }),
      }),
      { minLength: 1, maxLength: 30 },
    ),
  }),
);

test("every benchmark is in exactly one set, none is longer than before, and repeating it changes nothing", () => {
  fc.assert(
    fc.property(cases, ({ count, items }) => {
      const sets = Object.fromEntries(items.map(({ set }, index) => [`b${index}`, set]));
      const minutes = Object.fromEntries(items.map((item, index) => [`b${index}`, item.minutes]));
      const found = balanced(sets, minutes, count);

      expect(found.sets.flatMap(({ benchmarks }) => benchmarks).toSorted()).toEqual(
        Object.keys(sets).toSorted(),
      );
      const longestOf = (key: "secondsBefore" | "secondsAfter") =>
        Math.max(...found.sets.map((set) => set[key]));
      const least = Math.max(
        ...Object.values(minutes),
        Object.values(minutes).reduce((a, b) => a + b) / count,
      );
      expect(longestOf("secondsAfter")).toBeLessThanOrEqual(longestOf("secondsBefore"));
      // LPT's bound is 4/3 of the optimum, and the optimum is at least the mean.
      expect(longestOf("secondsAfter")).toBeLessThanOrEqual((4 / 3) * 2 * least);
      for (const { benchmark, from, to } of found.moves) {
        expect(sets[benchmark]).toBe(from);
        expect(to).not.toBe(from);
      }
      const after = Object.fromEntries(
        found.sets.flatMap(({ set, benchmarks }) => benchmarks.map((name) => [name, set])),
      );
      expect(balanced(after, minutes, count).moves).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
