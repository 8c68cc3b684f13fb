import { describe, expect, test } from "vitest";
import { compareArtifacts } from "./compare-artifacts.ts";
import { countLimit, judgeEqualRuns, relativeRange } from "./judge-counts.ts";
import { measured, toCompare } from "./measured.fixture.ts";

const count = { nature: "deterministic", better: "lower" } as const;

test.each([
  { values: [], range: undefined },
  { values: [5], range: undefined },
  { values: [5, 5], range: 0 },
  { values: [0, 0], range: 0 },
  { values: [100, 102, 101], range: 0.02 },
  { values: [0, 3], range: Number.POSITIVE_INFINITY },
])("$values lie $range apart", ({ values, range }) => {
  expect(relativeRange(values)).toBe(range);
});

test.each([
  { seen: [0, 0, undefined], limit: 0.002, isSeen: true },
  { seen: [0.003, undefined, undefined], limit: 0.006, isSeen: true },
  { seen: [0, 0.001, 0.01], limit: 0.02, isSeen: true },
  { seen: [undefined, undefined, undefined], limit: 0.02, isSeen: false },
])("a count that was seen to scatter by $seen must move by $limit", ({ seen, ...expected }) => {
  const [before, after, selfTests] = seen;
  expect(countLimit({ before, after, selfTests })).toEqual(expected);
});

test("equal runs of a program with a garbage collector are no change, and exact figures must be equal", () => {
  // Instructions of one esbuild, in millions, from the external review.
  const [before, after] = [
    [697.8, 699.7, 699.4],
    [697.9, 701.9, 698.2],
  ];
  expect(judgeEqualRuns(before, after, count).verdict).toBe("no-change");
  expect(judgeEqualRuns([7, 7], [7, 8], { ...count, nature: "exact" }).verdict).toBe("regressed");
});

describe("a comparison of counts", () => {
  const compared = (
    change: number,
    scatter: { before?: number; after?: number },
    more: Parameters<typeof toCompare>[0] = {},
  ) => {
    const of = (value: number, range: number | undefined) =>
      measured(
        { instructions: value },
        { scatter: range === undefined ? {} : { instructions: range } },
      );
    const { cases } = compareArtifacts(
      toCompare({
        before: [of(1_000_000, scatter.before)],
        after: [of(1_000_000 * (1 + change), scatter.after)],
        ...more,
      }),
    );
    return cases[0];
  };

  test("reports half a percent when runs agree, but not when runs vary as much", () => {
    expect(compared(0.005, { before: 0, after: 0 })?.verdict).toBe("regressed");
    expect(compared(0.005, { before: 0.004, after: 0 })).toMatchObject({
      verdict: "no-change",
      evidence: { threshold: 0.008, scatter: { before: 0.004, after: 0, selfTests: null } },
    });
  });

  test("does not report a change as small as those of equal artifacts in self-tests", () => {
    expect(compared(0.005, { before: 0, after: 0 }, { limitOf: () => 0.004 })?.verdict).toBe(
      "no-change",
    );
  });

  test("reports a change from one run per side only if it is large", () => {
    expect(compared(0.005, {})).toMatchObject({
      verdict: "undecided",
      warnings: [expect.stringContaining("measured once")],
    });
    expect(compared(0.03, {})?.verdict).toBe("regressed");
    expect(compared(0.001, {})?.verdict).toBe("no-change");
  });

  test("counts thirty predecessors as measured scatter", () => {
    const steady = { historyOf: () => Array<number>(31).fill(1_000_000) };
    expect(compared(0.005, {}, steady)).toMatchObject({
      verdict: "regressed",
      evidence: { history: 30 },
    });
    expect(compared(0.005, { before: 0.004, after: 0 }, steady)?.verdict).toBe("no-change");
  });
});
