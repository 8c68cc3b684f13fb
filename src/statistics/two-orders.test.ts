import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mannWhitney } from "./mann-whitney.ts";
import { attainableP, leastP, twoOrders } from "./two-orders.ts";

/** Multiples of 2⁻³⁰, whose sums and halves are exact: the property concerns ranks, not rounding. */
const values = (least: number, most: number) =>
  fc.array(
    fc.integer({ min: -(2 ** 30), max: 2 ** 30 }).map((each) => each / 2 ** 30),
    { minLength: least, maxLength: most },
  );

describe("differences in two orders", () => {
  test("have the p-value of the rank-sum test of one order against the negated other", () => {
    fc.assert(
      fc.property(values(2, 12), values(2, 12), (one, other) => {
        const all = [...one, ...other.map((each) => -each)];
        fc.pre(new Set(all).size === all.length);
        const expected = mannWhitney(
          one,
          other.map((each) => 0 - each),
        ).p;
        expect(twoOrders(one, other).p).toBeCloseTo(expected, 10);
      }),
    );
  });

  test("have an interval that excludes zero exactly when p is small enough, with or without ties", () => {
    const rounded = values(1, 9).map((list) => list.map((each) => Math.round(each * 4) / 4));
    const alphas = fc.constantFrom(0.01, 0.05, 0.2);
    fc.assert(
      fc.property(rounded, rounded, alphas, (one, other, alpha) => {
        const { p, point, interval } = twoOrders(one, other);
        const found = interval(alpha);
        const leavesOut = found !== undefined && (found.low > 0 || found.high < 0);
        expect(leavesOut).toBe(p <= alpha);
        const { low, high } = found ?? { low: point, high: point };
        expect(low <= point && point <= high).toBe(true);
      }),
    );
  });

  test("do not change with an effect that always favours the second of a pair", () => {
    const [one, other] = [
      [0.01, 0.02, 0.03],
      [0.015, 0.025, 0.011],
    ];
    const favoured = twoOrders(
      one.map((each) => each + 0.5),
      other.map((each) => each - 0.5),
    );
    expect(favoured.p).toBe(twoOrders(one, other).p);
    expect(favoured.point).toBeCloseTo(twoOrders(one, other).point, 12);
  });

  test("of only one order give no evidence", () => {
    expect(twoOrders([1, 2, 3], [])).toMatchObject({ point: 2, p: 1 });
    expect(twoOrders([1, 2, 3], []).interval(0.5)).toBeUndefined();
  });
});

test("five of each order can reach 2 of 252, and the next values", () => {
  expect(leastP(5, 5)).toBeCloseTo(2 / 252, 12);
  expect(attainableP(5, 5, 0.015)).toBeCloseTo(2 / 252, 12);
  expect(attainableP(5, 5, 0.016)).toBeCloseTo(4 / 252, 12);
  expect(attainableP(3, 2, 0.1)).toBe(0);
});
