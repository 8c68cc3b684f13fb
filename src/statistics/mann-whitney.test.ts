import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mannWhitney, mannWhitneyApproximate } from "./mann-whitney.ts";

const sample = (most = 12) =>
  fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 1, maxLength: most });

describe("Mann and Whitney's test", () => {
  test.each([
    { a: [1, 2, 3], b: [4, 5, 6], p: 0.1 },
    { a: [1, 2, 3, 4], b: [5, 6, 7, 8], p: 2 / 70 },
    { a: [1, 2, 3, 4, 5], b: [6, 7, 8, 9, 10], p: 2 / 252 },
    // These are benchstat's own exact values, like 0.1 and 0.02857142857 above.
    { a: [1, 2, 5, 7], b: [3, 4, 6, 8], p: 34 / 70 },
    { a: [1, 1, 1], b: [1, 1, 1], p: 1 },
  ])("gives $p for $a against $b", ({ a, b, p }) => {
    expect(mannWhitney(a, b).p).toBeCloseTo(p, 14);
  });

  test("does not depend on the order of the samples", () => {
    fc.assert(
      fc.property(sample(), sample(), (a, b) => {
        const here = mannWhitney(a, b);
        const there = mannWhitney(b, a);
        expect(there.p).toBeCloseTo(here.p, 12);
        expect(here.u + there.u).toBe(a.length * b.length);
      }),
    );
  });

  test("depends only on ranks: no increasing function changes it", () => {
    fc.assert(
      fc.property(sample(), sample(), (a, b) => {
        const grown = (values: number[]) => values.map((x) => Math.exp(x) * 1e-9);
        expect(mannWhitney(grown(a), grown(b))).toEqual(mannWhitney(a, b));
      }),
    );
  });

  test("returns a probability, and 1 for equal samples", () => {
    fc.assert(
      fc.property(sample(), sample(), (a, b) => {
        const { p } = mannWhitney(a, b);
        expect(p).toBeGreaterThan(0);
        expect(p).toBeLessThanOrEqual(1);
        expect(mannWhitney(a, a).p).toBe(1);
      }),
    );
  });

  test("keeps its error rate of one in a hundred over all orders of ten values", () => {
    // Without a difference, all 252 ways to divide ten values into two samples are equally likely.
    const deals = Array.from({ length: 2 ** 10 }, (_, bits) => bits).filter(
      (bits) => bits.toString(2).replaceAll("0", "").length === 5,
    );
    const alarms = deals.filter((bits) => {
      const values = Array.from({ length: 10 }, (_, i) => i);
      return (
        mannWhitney(
          values.filter((i) => (bits >> i) % 2 === 1),
          values.filter((i) => (bits >> i) % 2 === 0),
        ).p <= 0.01
      );
    });

    expect(deals).toHaveLength(252);
    expect(alarms).toHaveLength(2);
  });

  test("continues smoothly above fifty values", () => {
    const a = Array.from({ length: 50 }, (_, i) => i * 1.01);
    const b = Array.from({ length: 50 }, (_, i) => i * 1.01 + 8.3);

    const exact = mannWhitney(a, b).p;

    expect(mannWhitney([...a, 25], b).p / exact).toBeGreaterThan(0.5);
    expect(Math.abs(mannWhitneyApproximate(a, b).p / exact - 1)).toBeLessThan(0.1);
  });
});
