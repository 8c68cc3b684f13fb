import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deterministicFence, rustcFence } from "./fence.ts";
import { isRelevant, magnitudeOf } from "./magnitude.ts";
import { relativeChange } from "./relative-change.ts";

describe("the fence", () => {
  test("is 0.2 % with fewer than thirty predecessors", () => {
    expect(rustcFence([])).toEqual({ threshold: 0.002, history: 0 });
    expect(rustcFence(Array.from({ length: 29 }, () => 100))).toEqual({
      threshold: 0.002,
      history: 0,
    });
  });

  test("is three interquartile ranges above the upper quartile of the steps", () => {
    // Newest first: the values differ so that the steps are 1/1000, 2/1000, … 29/1000 of the newer.
    const history = [1_000];
    for (let i = 1; i <= 29; i++) history.push((history.at(-1) ?? 0) * (1 + i / 1_000));

    const { threshold, history: count } = rustcFence(history);

    const [q1, q3] = [0.0075, 0.0225];
    expect(threshold).toBeCloseTo(q3 + 3 * (q3 - q1), 12);
    expect(count).toBe(30);
  });

  test("reads at most thirty predecessors", () => {
    const steady = Array.from({ length: 30 }, () => 100);

    expect(rustcFence([...steady, 1, 1_000, 5])).toEqual(rustcFence(steady));
    expect(rustcFence(steady).threshold).toBe(0);
  });

  test("does not depend on the unit", () => {
    const figures = fc.array(fc.double({ min: 1, max: 2, noNaN: true }), {
      minLength: 30,
      maxLength: 40,
    });
    fc.assert(
      fc.property(figures, fc.integer({ min: -40, max: 40 }), (history, power) => {
        const scaled = rustcFence(history.map((value) => value * 2 ** power));
        expect(scaled.threshold).toBe(rustcFence(history).threshold);
      }),
    );
  });

  test("of verdicts is at least 0.2 %: rustc-perf's fence of a steady month is 0", () => {
    const steady = Array.from({ length: 30 }, () => 100);
    const swinging = Array.from({ length: 30 }, (_, i) => 100 + (i % 2));

    expect(deterministicFence(steady)).toEqual({ threshold: 0.002, history: 30 });
    expect(deterministicFence(swinging)).toEqual(rustcFence(swinging));
    expect(deterministicFence([])).toEqual({ threshold: 0.002, history: 0 });
  });

  test("is never infinite: a history of zeros contains no information", () => {
    const history = Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? 0 : 5));

    expect(rustcFence(history)).toEqual({ threshold: 0.002, history: 0 });
  });
});

describe("a magnitude", () => {
  test.each([
    { change: 0, threshold: 0.002, halved: false, is: 0 },
    { change: 0.000_09, threshold: 0, halved: false, is: 1 },
    { change: 0.0025, threshold: 0.002, halved: false, is: 1 },
    { change: 0.004, threshold: 0.002, halved: false, is: 2 },
    { change: -0.015, threshold: 0.002, halved: false, is: 3 },
    { change: -0.015, threshold: 0.002, halved: true, is: 3 },
    { change: 0.019, threshold: 0.01, halved: true, is: 2 },
    { change: 0.06, threshold: 0.002, halved: false, is: 5 },
    { change: 0.06, threshold: 0.1, halved: false, is: 3 },
    { change: null, threshold: 0.1, halved: true, is: 5 },
  ])("of $change over $threshold (halved: $halved) is $is", ({ change, threshold, halved, is }) => {
    expect(magnitudeOf(change, threshold, halved)).toBe(is);
  });

  test("never falls when the change grows", () => {
    const share = fc.double({ min: 0, max: 0.2, noNaN: true });
    fc.assert(
      fc.property(share, share, share, fc.boolean(), (a, b, threshold, halved) => {
        const [less, more] = [Math.min(a, b), Math.max(a, b)];
        expect(magnitudeOf(more, threshold, halved)).toBeGreaterThanOrEqual(
          magnitudeOf(less, threshold, halved),
        );
      }),
    );
  });

  test("is relevant from magnitude 2 on, if the change is significant", () => {
    expect([isRelevant(true, 1), isRelevant(true, 2), isRelevant(false, 5)]).toEqual([
      false,
      true,
      false,
    ]);
  });
});

test.each([
  { before: 0, after: 0, is: 0 },
  { before: 0, after: 3, is: null },
  { before: 4, after: 3, is: -0.25 },
  { before: 4, after: 0, is: -1 },
])("from $before to $after is a change of $is", ({ before, after, is }) => {
  expect(relativeChange(before, after)).toBe(is);
});
