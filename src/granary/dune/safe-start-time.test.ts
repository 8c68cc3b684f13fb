import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ExpectedRule, msUntilSafe, msWorthWaiting } from "./safe-start-time.ts";

const fast = { roundTripMs: 20, bytesPerSecond: 12_500_000 };
const rules = fc.array(
  fc.record({
    firstMs: fc.nat(50),
    isThere: fc.boolean(),
    bytes: fc.nat(5_000_000),
  }),
  { maxLength: 200 },
);
const lines = fc.record({
  roundTripMs: fc.nat(200),
  bytesPerSecond: fc.integer({ min: 1, max: 1e9 }),
});
const many = (count: number, bytes: number): ExpectedRule[] =>
  Array.from({ length: count }, (_, firstMs) => ({ firstMs, isThere: false, bytes }));

/** Returns when each missing rule would arrive, in the order of demand, at exactly the line's speed. */
function simulated(all: readonly ExpectedRule[], { roundTripMs, bytesPerSecond }: typeof fast) {
  let bytes = 0;
  return all.map((rule) => {
    if (rule.isThere) return 0;
    bytes += rule.bytes;
    return roundTripMs + (bytes / bytesPerSecond) * 1_000;
  });
}

describe("a build that starts at the safe time", () => {
  test("finds each rule when it looks for it, at one rule per 0.15 ms", () => {
    fc.assert(
      fc.property(rules, lines, (some, line) => {
        const inOrder = some.toSorted((one, other) => one.firstMs - other.firstMs);
        const beginMs = msUntilSafe(some, line);
        for (const [rank, thereMs] of simulated(inOrder, line).entries()) {
          // Among rules with the same time, any may be looked up first.
          const first = inOrder.findIndex(({ firstMs }) => firstMs === inOrder[rank]?.firstMs);
          expect(thereMs).toBeLessThanOrEqual(beginMs + 20 + first * 0.15 + 1e-6);
        }
      }),
    );
  });

  test("does not wait when all rules are present", () => {
    fc.assert(
      fc.property(rules, lines, (some, line) => {
        const there = some.map((rule) => ({ ...rule, isThere: true }));
        expect(msUntilSafe(there, line)).toBe(0);
      }),
    );
  });

  test("never waits longer because a rule has arrived, or because the line is faster", () => {
    fc.assert(
      fc.property(rules, lines, fc.nat(199), (some, line, at) => {
        const before = msUntilSafe(some, line);
        const after = some.map((rule, n) => (n === at ? { ...rule, isThere: true } : rule));
        expect(msUntilSafe(after, line)).toBeLessThanOrEqual(before);
        const faster = { ...line, bytesPerSecond: line.bytesPerSecond * 2 };
        expect(msUntilSafe(some, faster)).toBeLessThanOrEqual(before);
      }),
    );
  });

  test("does not wait for all rules when the last ones are looked up last", () => {
    const all = many(3_000, 4_000);
    const lastMs = 1.25 * (20 + (3_000 * 4_000) / 12_500 + 3_000 * 0.5);

    expect(msUntilSafe(all, fast)).toBeLessThan(lastMs - 400);
    expect(msUntilSafe(all, fast)).toBeGreaterThan(500);
  });

  test("waits for all rules when the order of lookups is unknown", () => {
    const unordered = many(1_000, 10_000).map((rule) => ({ ...rule, firstMs: 7 }));
    const lastMs = 1.25 * (20 + (1_000 * 10_000) / 12_500 + 1_000 * 0.5);

    expect(msUntilSafe(unordered, fast)).toBeCloseTo(lastMs - 20);
  });
});

test("without a request, a build waits for less time than making the rules would take", () => {
  expect(msWorthWaiting(many(600, 0))).toBeCloseTo(2_160);
  expect(msWorthWaiting(many(10, 1_500_000))).toBeCloseTo(486);
  expect(msWorthWaiting([])).toBe(0);
});
