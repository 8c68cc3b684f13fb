import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changePoints } from "./change-points.ts";
import { normal, seededRandom } from "./seeded-random.ts";

function series(levels: readonly [count: number, level: number][], spread: number, seed = 1) {
  const random = seededRandom(seed);
  return levels.flatMap(([count, level]) =>
    Array.from({ length: count }, () => level + spread * normal(random)),
  );
}

describe("change points", () => {
  test("names the first value after each step", () => {
    const values = series(
      [
        [30, 100],
        [40, 110],
        [25, 104],
      ],
      1,
    );

    const found = changePoints(values, { magnitude: 0.02 });

    expect(found.map(({ index }) => index)).toEqual([30, 70]);
    expect(found[0]?.meanBefore).toBeCloseTo(100, 0);
    expect(found[0]?.meanAfter).toBeCloseTo(110, 0);
    expect(found[0]?.p).toBeLessThan(1e-20);
  });

  test("reports no step that is smaller than requested", () => {
    const values = series(
      [
        [30, 100],
        [40, 110],
        [25, 104],
      ],
      1,
    );

    expect(changePoints(values, { magnitude: 0.07 }).map(({ index }) => index)).toEqual([30]);
    expect(changePoints(values, { magnitude: 0.5 })).toEqual([]);
  });

  test("waits for a second value, because one may be an outlier", () => {
    const steady = series([[40, 100]], 0.5);

    expect(changePoints([...steady, 130])).toEqual([]);
    expect(changePoints([...steady, 130, 131]).map(({ index }) => index)).toEqual([40]);
    expect(changePoints([...steady, 130], { leastSegment: 1 })).toHaveLength(1);
  });

  test("ignores one outlier in the middle", () => {
    const steady = series([[40, 100]], 0.5);

    expect(changePoints([...steady.slice(0, 20), 130, ...steady.slice(20)])).toEqual([]);
  });

  test.each([0.1, 1, 123_456_789.123, 0])("finds no step in %d repeated values", (value) => {
    expect(changePoints(Array.from({ length: 300 }, () => value))).toEqual([]);
  });

  test("finds a step between two exact levels", () => {
    const values = [
      ...Array.from({ length: 20 }, () => 0.1),
      ...Array.from({ length: 20 }, () => 0.3),
    ];

    expect(changePoints(values).map(({ index }) => index)).toEqual([20]);
  });

  test("accepts any input: no values, one, two", () => {
    expect(changePoints([])).toEqual([]);
    expect(changePoints([1])).toEqual([]);
    expect(changePoints([1, 2])).toEqual([]);
  });

  test("reports only steps that are significant between the remaining ones, if requested", () => {
    const drawn = (seed: number) => {
      const random = seededRandom(seed);
      let level = 100;
      return Array.from({ length: 120 }, () => {
        if (random() < 0.05) level *= 1 + 0.02 * normal(random);
        return level + normal(random);
      });
    };
    const weak = (onlyWhatHolds: boolean) =>
      Array.from({ length: 60 }, (_, seed) =>
        changePoints(drawn(seed), { magnitude: 0.002, onlyWhatHolds }),
      )
        .flat()
        .filter(({ p }) => p >= 0.001);

    expect(weak(false)).not.toEqual([]);
    expect(weak(true)).toEqual([]);
  });

  test("does not depend on the unit", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.integer({ min: -9, max: 9 }),
        (seed, power) => {
          const values = series(
            [
              [15, 100],
              [20, 108],
              [10, 95],
            ],
            2,
            seed,
          );
          const scaled = values.map((value) => value * 2 ** power);
          expect(changePoints(scaled).map(({ index }) => index)).toEqual(
            changePoints(values).map(({ index }) => index),
          );
        },
      ),
      { numRuns: 50 },
    );
  });

  test("examines 3,000 values in less than a tenth of a second", () => {
    const values = series(
      Array.from({ length: 15 }, (_, i) => [200, 100 + (i % 4) * 5] as [number, number]),
      1,
    );
    const before = process.cpuUsage();

    expect(changePoints(values, { magnitude: 0.01 }).length).toBeGreaterThanOrEqual(14);

    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(100);
  });
});
