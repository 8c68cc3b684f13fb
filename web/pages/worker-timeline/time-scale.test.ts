import { describe, expect, test } from "vitest";
import { ageText, tickAges, timeScale } from "./time-scale.ts";

const hour = { fromMs: 0, toMs: 3_600_000 };

describe.each(["linear", "logarithmic"] as const)("the %s scale", (kind) => {
  const scale = timeScale(kind, hour, 3_600_000, 1_000);

  test("covers the whole width, and its inverse returns the time", () => {
    expect(scale.xOf(0)).toBeCloseTo(0);
    expect(scale.xOf(3_600_000)).toBeCloseTo(1_000);
    for (const ms of [1, 60_000, 1_800_000, 3_599_000]) {
      expect(scale.msOf(scale.xOf(ms))).toBeCloseTo(ms, 3);
    }
  });

  test("has readable ticks: in order, apart from each other, and now is one of them", () => {
    const ages = tickAges(scale, hour, 3_600_000, 60);
    const xs = ages.map((age) => scale.xOf(3_600_000 - age));

    expect(ages.at(-1)).toBe(0);
    expect(ages.length).toBeGreaterThan(4);
    for (const [n, x] of xs.slice(1).entries()) expect(x - (xs[n] ?? 0)).toBeGreaterThanOrEqual(60);
  });
});

test("the logarithmic scale gives the last minute more than a third of an hour's width", () => {
  const x = (kind: "linear" | "logarithmic") =>
    timeScale(kind, hour, 3_600_000, 1_000).xOf(3_600_000 - 60_000);

  expect(x("linear")).toBeGreaterThan(980);
  expect(x("logarithmic")).toBeLessThan(667);
});

test.each([
  [0, "now"],
  [500, "500 ms"],
  [30_000, "30 s"],
  [90_000, "1 min 30 s"],
  [9_000_000, "2 h 30 min"],
  [172_800_000, "2 d"],
])("an age of %d ms is written %s", (ms, text) => {
  expect(ageText(ms)).toBe(text);
});
