import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { alphaAfter, gateAlpha } from "./alpha-spending.ts";
import { judgeNoisy } from "./judge-noisy.ts";
import { defaultRounds, judgePairs, type Pair, practicalLimit } from "./judge-pairs.ts";
import { pairedTimes } from "./measured.fixture.ts";
import { shapeWarnings } from "./shape-warnings.ts";

const rules = { limit: 0.01, rounds: defaultRounds, better: "lower" } as const;
const figures = (shift: number, others: Parameters<typeof pairedTimes>[1] = {}): Pair[] =>
  pairedTimes(shift, others).pairs.map(({ child, parent, parentFirst }) => ({
    child: child["time"] ?? 0,
    parent: parent["time"] ?? 0,
    parentFirst,
  }));

describe("the allowed share of the error", () => {
  test("is zero for five pairs, and for twenty pairs what ten left over", () => {
    const spent = defaultRounds.map((round) => alphaAfter(round, defaultRounds));
    expect(spent[0]).toBe(0);
    expect(spent[1]).toBeCloseTo(2 / 252, 12);
    expect(spent[2]).toBeCloseTo(0.0185, 4);
  });

  test("never exceeds the limit, for any rounds", () => {
    const rounds = fc
      .uniqueArray(fc.integer({ min: 4, max: 100 }), { minLength: 1, maxLength: 6 })
      .map((list) => list.toSorted((a, b) => a - b));
    fc.assert(
      fc.property(rounds, (list) => {
        const sum = list.reduce((total, round) => total + alphaAfter(round, list), 0);
        expect(sum).toBeLessThanOrEqual(gateAlpha * (1 + 1e-12));
      }),
    );
  });
});

describe("judging pairs", () => {
  test.each([
    { shift: 0.1, better: "lower", verdict: "regressed" },
    { shift: -0.1, better: "lower", verdict: "improved" },
    { shift: 0.1, better: "higher", verdict: "improved" },
    { shift: -0.1, better: "higher", verdict: "regressed" },
  ] as const)(
    "a shift of $shift is $verdict where $better is better",
    ({ shift, better, verdict }) => {
      const judged = judgePairs(figures(shift), { ...rules, better });

      expect(judged).toMatchObject({ verdict, more: 0 });
      expect(judged.effect).toBeCloseTo(shift, 1);
      expect(judged.low).toBeLessThan(shift);
      expect(judged.high).toBeGreaterThan(shift);
    },
  );

  test("reports no change only when the whole interval is irrelevant", () => {
    expect(judgePairs(figures(0, { spread: 0.001 }), rules)).toMatchObject({
      verdict: "no-change",
      more: 0,
    });
    expect(judgePairs(figures(0, { spread: 0.05 }), rules)).toMatchObject({
      verdict: "undecided",
      more: 10,
    });
  });

  test("reports no change for a certain but irrelevant difference", () => {
    const judged = judgePairs(figures(0.003, { spread: 0.0005, count: 20 }), rules);

    expect(judged.p).toBeLessThan(0.001);
    expect(judged.verdict).toBe("no-change");
  });

  test("requests the next round until the last", () => {
    const wild = (count: number) => figures(0, { count, spread: 0.05 });

    expect([0, 3, 5, 7, 10, 20].map((count) => judgePairs(wild(count), rules).more)).toEqual([
      5, 2, 5, 3, 10, 0,
    ]);
    expect(judgePairs(wild(20), rules).verdict).toBe("undecided");
  });

  test("accepts equal figures, zeros and values that are not numbers", () => {
    const same = (child: number, parent: number) =>
      Array.from({ length: 10 }, (_, i) => ({ child, parent, parentFirst: i % 2 === 0 }));

    expect(judgePairs(same(3, 3), rules)).toMatchObject({ verdict: "no-change", effect: 0, p: 1 });
    expect(judgePairs(same(0, 0), rules)).toMatchObject({ verdict: "no-change", effect: 0 });
    expect(judgePairs(same(5, 0), rules)).toMatchObject({ verdict: "regressed" });
    expect(judgePairs(same(0, 5), rules)).toMatchObject({ verdict: "improved", effect: -1 });
    expect(judgePairs(same(Number.NaN, 5), rules)).toMatchObject({ verdict: "undecided", p: null });
    for (const judged of [same(5, 0), same(1e300, 1e-300), same(-1, 1e308)]) {
      const { effect, low, high } = judgePairs(judged, rules);
      expect([effect, low, high].every(Number.isFinite)).toBe(true);
    }
  });

  test("swaps the sign when child and parent are swapped, and does not depend on the unit", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 999 }),
        fc.constantFrom(0, 0.01, 0.05),
        (seed, shift) => {
          const pairs = figures(shift, { seed });
          const here = judgePairs(pairs, rules);
          const there = judgePairs(
            pairs.map(({ child, parent, parentFirst }) => ({
              child: parent,
              parent: child,
              parentFirst: !parentFirst,
            })),
            rules,
          );
          const scaled = judgePairs(
            pairs.map(({ child, parent, parentFirst }) => ({
              child: child * 1024,
              parent: parent * 1024,
              parentFirst,
            })),
            rules,
          );
          expect(1 + there.effect).toBeCloseTo(1 / (1 + here.effect), 10);
          expect(there.p).toBeCloseTo(here.p ?? 0, 12);
          expect(scaled.verdict).toBe(here.verdict);
          expect(scaled.effect).toBeCloseTo(here.effect, 10);
        },
      ),
      { numRuns: 40 },
    );
  });
});

test("a change is never reported with an interval that contains zero, and its rerun is shown", () => {
  const random = fc.record({
    shift: fc.constantFrom(0, 0.01, 0.03, -0.15),
    spread: fc.constantFrom(0.005, 0.05, 0.2),
    seed: fc.integer({ min: 1, max: 9_999 }),
    count: fc.constantFrom(10, 20),
  });
  fc.assert(
    fc.property(random, ({ shift, ...others }) => {
      const rerun = figures(shift, { ...others, seed: others.seed + 10_000 });
      const judged = judgeNoisy(figures(shift, others), rerun, rules);
      const isTold = judged.verdict === "regressed" || judged.verdict === "improved";
      if (!isTold) return;
      const { low, high, again } = judged;
      expect(low > 0 || high < 0).toBe(true);
      expect(again !== null && (again.low > 0 || again.high < 0)).toBe(true);
      expect(again?.pairs).toBe(others.count);
    }),
    { numRuns: 300 },
  );
});

test("a limit is one percent, or the variation of equal artifacts", () => {
  expect([undefined, 0.003, 0.04, Number.NaN].map(practicalLimit)).toEqual([
    0.01, 0.01, 0.04, 0.01,
  ]);
});

describe("a rerun", () => {
  const slower = figures(0.1);

  test("confirms a change that it also shows", () => {
    expect(judgeNoisy(slower, figures(0.1, { seed: 2 }), rules)).toMatchObject({
      verdict: "regressed",
      confirmed: true,
    });
  });

  test.each([
    { what: "nothing", rerun: figures(0, { seed: 2 }) },
    { what: "the contrary", rerun: figures(-0.1, { seed: 2 }) },
  ])("that shows $what leaves it undecided, never unchanged", ({ rerun }) => {
    expect(judgeNoisy(slower, rerun, rules)).toMatchObject({
      verdict: "undecided",
      confirmed: false,
    });
  });

  test("with too few pairs is no evidence", () => {
    expect(judgeNoisy(slower, figures(0.1, { count: 3 }), rules)).toMatchObject({
      verdict: "regressed",
      confirmed: null,
    });
  });

  test("adds its evidence", () => {
    const { p, pooledP } = judgeNoisy(slower, figures(0.1, { seed: 2 }), rules);

    expect(pooledP).toBeLessThan(p ?? 0);
  });
});

describe("an irregular shape", () => {
  const twoModes = figures(0, { spread: 0.001, count: 20 }).map((pair, i) => ({
    ...pair,
    child: pair.child * (i % 2 === 0 ? 1 : 1.2),
  }));
  const drifting = figures(0, { spread: 0.001, count: 20 }).map((pair, i) => ({
    ...pair,
    child: pair.child * 1.01 ** i,
    parent: pair.parent * 1.01 ** i,
  }));

  test("is detected", () => {
    expect(shapeWarnings(twoModes)[0]).toContain("two modes");
    expect(shapeWarnings(drifting)[0]).toContain("drift");
    expect(shapeWarnings(figures(0.1, { count: 20 }))).toEqual([]);
  });

  test("removes the verdict, and a rerun restores it", () => {
    const slowerAndDrifting = drifting.map((pair) => ({ ...pair, child: pair.child * 1.5 }));

    expect(judgeNoisy(drifting, [], rules).verdict).toBe("undecided");
    expect(judgeNoisy(slowerAndDrifting, [], rules).verdict).toBe("undecided");
    expect(judgeNoisy(slowerAndDrifting, slowerAndDrifting, rules).verdict).toBe("regressed");
  });

  test("is rare in regular figures", () => {
    const odd = Array.from({ length: 2_000 }, (_, seed) => figures(0, { seed, count: 20 })).filter(
      (pairs) => shapeWarnings(pairs).length > 0,
    );

    expect(odd.length / 2_000).toBeLessThan(0.01);
  });
});
