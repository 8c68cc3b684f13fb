import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { normal, seededRandom } from "#statistics/seeded-random.ts";
import { judgeNoisy } from "./judge-noisy.ts";
import { defaultRounds, type Pair } from "./judge-pairs.ts";
import { shapeWarnings } from "./shape-warnings.ts";
import { modelProcess } from "./simulate-comparisons.ts";

const rules = { limit: 0.01, rounds: defaultRounds, better: "lower" } as const;
const pairsOf = (count: number, draw: (i: number) => Omit<Pair, "parentFirst">): Pair[] =>
  Array.from({ length: count }, (_, i) => ({ ...draw(i), parentFirst: i % 2 === 0 }));

describe("a coarse clock", () => {
  test("causes no autocorrelation warning: twice as fast is an improvement", () => {
    const pairs = pairsOf(20, () => ({ child: 50, parent: 100 }));

    expect(shapeWarnings(pairs)).toEqual([]);
    expect(judgeNoisy(pairs, [], rules)).toMatchObject({ verdict: "improved", warnings: [] });
  });

  test("never turns a clear change into a warning when it hides all differences within a side", () => {
    const side = fc.integer({ min: 10, max: 40 });
    fc.assert(
      fc.property(side, fc.double({ min: 1, max: 1e6, noNaN: true }), (count, step) => {
        const random = seededRandom(count);
        const rounded = (value: number) => Math.round(value / step) * step;
        const pairs = pairsOf(count, () => ({
          child: rounded(step * (2 + 0.1 * normal(random))),
          parent: rounded(step * (4 + 0.1 * normal(random))),
        }));
        expect(judgeNoisy(pairs, [], rules)).toMatchObject({ verdict: "improved", warnings: [] });
      }),
    );
  });

  test("does not make two steps look like two modes", () => {
    const pairs = pairsOf(20, (i) => ({ child: (i * 7) % 5 < 2 ? 1.01 : 1.02, parent: 3 }));

    expect(shapeWarnings(pairs)).toEqual([]);
  });
});

// Measured with 5,000 sets each: 0.0 to 0.3 % for every kind of warning.
describe("regular figures rarely cause a warning", () => {
  const spread = 0.01;
  const clean: Record<string, (random: () => number) => number> = {
    normal: (random) => 1 + spread * normal(random),
    even: (random) => 1 + spread * random(),
    "like the model": modelProcess(),
    "rounded to half of their spread": (random) => Math.round((100 + normal(random)) * 2),
    "rounded to their spread": (random) => Math.round(100 + normal(random)),
    "rounded to four times their spread": (random) => Math.round(25.3 + normal(random) / 4),
  };
  test.each(Object.keys(clean).flatMap((kind) => [10, 20].map((count) => ({ kind, count }))))(
    "$kind, $count pairs",
    ({ kind, count }) => {
      const random = seededRandom(kind);
      const draw = clean[kind] ?? (() => 0);
      const odd = Array.from({ length: 1_000 }, () =>
        shapeWarnings(pairsOf(count, () => ({ child: draw(random), parent: draw(random) }))),
      ).filter((warnings) => warnings.length > 0);

      expect(odd.length).toBeLessThan(10);
    },
  );
});

describe("an irregular shape is detected", () => {
  const random = seededRandom("odd");
  const odd: Record<string, (i: number) => number> = {
    "two modes": (i) => (i % 2 === 0 ? 1 : 1.2) + 0.005 * normal(random),
    drift: (i) => 1 + 0.01 * i + 0.005 * normal(random),
    autocorrelation: (i) => 1 + 0.1 * Math.sin(i / 3.5) + 0.002 * normal(random),
  };
  test.each(Object.keys(odd))("%s", (kind) => {
    const pairs = pairsOf(40, (i) => ({ child: (odd[kind] ?? (() => 0))(i), parent: random() }));

    expect(shapeWarnings(pairs).join()).toContain(kind);
  });

  test("also when the clock has steps", () => {
    const pairs = pairsOf(40, (i) => ({ child: Math.round(4 * Math.sin(i / 3.5)), parent: 1 }));

    expect(shapeWarnings(pairs).join()).toContain("autocorrelation");
  });
});
