import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type KnownLine,
  planBisection,
  planRefinement,
  planScan,
  type SearchStep,
} from "./plan-search.ts";

/** Runs a search on figures that it only sees on request; null: cannot be measured. */
function searchThrough(
  figures: readonly (number | null)[],
  plan: (line: KnownLine) => SearchStep,
  known = new Map<number, number | "failed" | "asked">(),
) {
  for (let round = 0; round <= figures.length + 1; round++) {
    const step = plan({ length: figures.length, known });
    if (step.over) return { steps: step.steps, measured: known.size };
    expect(step.ask.length).toBeGreaterThan(0);
    for (const position of step.ask) {
      expect(known.has(position)).toBe(false);
      known.set(position, figures[position] ?? "failed");
    }
  }
  throw new Error("the search does not end");
}

const flatWithStepAt = (length: number, at: number, change: number) =>
  Array.from({ length }, (_, i) => (i < at ? 100 : 100 * (1 + change)));

describe("a bisection", () => {
  test("finds any single step in about log2(length) measurements", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 500 }).chain((length) =>
          fc.record({
            length: fc.constant(length),
            at: fc.integer({ min: 1, max: length - 1 }),
            change: fc.constantFrom(-0.4, -0.02, 0.011, 0.3),
          }),
        ),
        ({ length, at, change }) => {
          const found = searchThrough(flatWithStepAt(length, at, change), (line) =>
            planBisection(line, 0.01),
          );
          expect(found.steps).toMatchObject([{ before: at - 1, after: at, exact: true }]);
          expect(found.measured).toBeLessThanOrEqual(2 + Math.ceil(Math.log2(length)));
        },
      ),
    );
  });

  test("ends without a step when the ends differ by less than the threshold", () => {
    const found = searchThrough([100, 130, 100.5], (line) => planBisection(line, 0.01));
    expect(found).toEqual({ steps: [], measured: 2 });
  });

  test("skips artifacts that cannot be measured, and reports them when the step is there", () => {
    const found = searchThrough([100, 100, null, null, 110, 110], (line) =>
      planBisection(line, 0.01),
    );
    expect(found.steps).toMatchObject([{ before: 1, after: 4, exact: false }]);
  });

  test("follows the larger of two steps", () => {
    const figures = Array.from({ length: 64 }, (_, i) => (i < 10 ? 100 : i < 45 ? 103 : 120));
    const found = searchThrough(figures, (line) => planBisection(line, 0.01));
    expect(found.steps).toMatchObject([{ before: 44, after: 45 }]);
  });

  test("waits for measurements in progress", () => {
    const known = new Map<number, number | "asked">([
      [0, 1],
      [9, 2],
      [5, "asked"],
    ]);
    expect(planBisection({ length: 10, known }, 0.01)).toEqual({ ask: [], over: false, steps: [] });
  });
});

describe("a refinement", () => {
  test("finds every step of a staircase that a scan has shown, with far fewer than all", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 1, max: 399 }), { minLength: 1, maxLength: 5 }),
        (edges) => {
          // All in the same direction, because changes that cancel out between two known figures cannot be found.
          const figures = Array.from(
            { length: 400 },
            (_, i) => 100 * 1.05 ** edges.filter((edge) => edge <= i).length,
          );
          const found = searchThrough(figures, (line) => planRefinement(line, 0.01));
          expect(found.steps.map(({ after }) => after)).toEqual(edges.toSorted((a, b) => a - b));
          expect(found.steps.every(({ exact }) => exact)).toBe(true);
          expect(found.measured).toBeLessThanOrEqual(2 + edges.length * 10);
        },
      ),
    );
  });

  test("a slope of small changes is no step", () => {
    const figures = Array.from({ length: 101 }, (_, i) => 100 + i * 0.1);
    const found = searchThrough(figures, (line) => planRefinement(line, 0.01));
    expect(found.steps).toEqual([]);
    expect(found.measured).toBeLessThan(40);
  });

  test("a figure of zero before any other is a step", () => {
    const found = searchThrough([0, 0, 5, 5], (line) => planRefinement(line, 0.01));
    expect(found.steps).toMatchObject([{ before: 1, after: 2, exact: true }]);
  });
});

test("a scan requests each selected artifact without results once", () => {
  const known = new Map<number, number | "failed">([
    [0, 10],
    [4, "failed"],
  ]);
  const scan = planScan({ length: 9, known }, [0, 4, 8], 0.01);
  expect(scan).toEqual({ ask: [8], over: false, steps: [] });
});

test("a search of one artifact or of none ends at once", () => {
  expect(planRefinement({ length: 0, known: new Map() }, 0.01).over).toBe(true);
  expect(searchThrough([7], (line) => planBisection(line, 0.01)).steps).toEqual([]);
});
