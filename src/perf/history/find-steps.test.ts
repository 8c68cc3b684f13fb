import { describe, expect, test } from "vitest";
import { normal, seededRandom } from "#statistics/seeded-random.ts";
import { findSteps, settleSteps } from "./find-steps.ts";

/** Varies by one in a thousand, the same each time. */
const about = (level: number, length: number) =>
  Array.from({ length }, (_, i) => level * (1 + 0.001 * Math.sin(i * 1.7)));

describe("steps of a series", () => {
  test("are found where the level changes, with both levels", () => {
    const [step, ...more] = findSteps([...about(100, 30), ...about(110, 20)], 0.002);

    expect(more).toEqual([]);
    expect(step?.index).toBe(30);
    expect(step?.meanBefore).toBeCloseTo(100, 1);
    expect(step?.meanAfter).toBeCloseTo(110, 1);
    expect(step?.p).toBeLessThan(0.001);
  });

  test("need a second value at the end of the series", () => {
    expect(findSteps([...about(100, 40), 120], 0.002)).toEqual([]);
    expect(findSteps([...about(100, 40), 120, 120.1], 0.002).map(({ index }) => index)).toEqual([
      40,
    ]);
  });

  test("are not found for one outlier between equal values", () => {
    expect(findSteps([...about(100, 25), 120, ...about(100, 25)], 0.002)).toEqual([]);
  });

  test("are found next to an outlier", () => {
    const before = about(100, 16);
    const found = (values: readonly number[]) => findSteps(values, 0.002).map((step) => step.index);

    expect(found([...before.with(11, 150), ...about(110, 8)])).toEqual([16]);
    expect(found([...before.with(11, 1), ...about(110, 8).with(3, 1_000)])).toEqual([16]);
  });

  test("are rarely found in random values", () => {
    const random = seededRandom("chance");
    let found = 0;
    for (let trial = 0; trial < 300; trial++) {
      const values = Array.from({ length: 50 }, () => 100 + normal(random));
      if (findSteps(values, 0.002).length > 0) found++;
    }

    // At p < 0.001 for the best of fifty splits; as many as without moving outliers.
    expect(found).toBeLessThan(15);
  });

  test("are not found below the limit", () => {
    const values = [...about(100, 30), ...about(101.5, 30)];

    expect(findSteps(values, 0.02)).toEqual([]);
    expect(findSteps(values, 0.01)).toHaveLength(1);
  });
});

describe("known steps", () => {
  const found = (...indices: number[]) =>
    indices.map((index) => ({ index, p: 0, meanBefore: 1, meanAfter: 2 }));
  const places = Array.from({ length: 60 }, (_, i) => i);

  test("one that is no longer found is removed, and one that is found again is kept", () => {
    expect(settleSteps(found(40), places, [{ place: 38, standing: "found" }], 0)).toEqual({
      keep: found(40),
      forget: [38],
    });
  });

  test("one with a decision stays, and its decision applies to a step that is found next to it", () => {
    for (const standing of ["accepted", "dismissed"] as const)
      expect(settleSteps(found(40, 50), places, [{ place: 42, standing }], 0)).toEqual({
        keep: found(50),
        forget: [],
      });
  });

  test("those at the beginning of the window are not changed", () => {
    expect(settleSteps(found(10), places, [{ place: 12, standing: "found" }], 25)).toEqual({
      keep: [],
      forget: [],
    });
  });
});
