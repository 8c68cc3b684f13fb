import fc from "fast-check";
import { expect, test } from "vitest";
import { chartsOf, shownAs, spotsOf } from "./chart-lines.ts";

const values = fc.array(fc.option(fc.double({ min: 0.001, max: 1e9, noNaN: true })));

test("measured values are on the line, and gaps are marked", () => {
  fc.assert(
    fc.property(values, (those) => {
      const spots = spotsOf(those);
      const measured = spots.filter(({ isGuessed }) => !isGuessed);
      expect(measured.map(({ n, value }) => [n, value])).toEqual(
        those.flatMap((value, n) => (value === null ? [] : [[n, value]])),
      );
      expect(spots[0]?.isGuessed ?? false).toBe(false);
      expect(spots.at(-1)?.isGuessed ?? false).toBe(false);
    }),
  );
});

test("a gap has the value of the previous point", () => {
  expect(spotsOf([null, 10, null, 12, null])).toEqual([
    { n: 1, value: 10, isGuessed: false },
    { n: 2, value: 10, isGuessed: true },
    { n: 3, value: 12, isGuessed: false },
  ]);
});

test("percentages are relative to the first point, or to the previous one", () => {
  const spots = spotsOf([100, 110, 99]);
  const shown = (kind: Parameters<typeof shownAs>[0]) =>
    shownAs(kind, spots).map(({ value }) => Math.round(value * 1_000) / 1_000);

  expect(shown("raw")).toEqual([100, 110, 99]);
  expect(shown("percent-from-first")).toEqual([0, 10, -1]);
  expect(shown("percent-from-previous")).toEqual([0, 10, -10]);
});

test("there is no percentage of zero", () => {
  expect(shownAs("percent-from-first", spotsOf([0, 5]))).toEqual([]);
  expect(shownAs("percent-from-previous", spotsOf([0, 5, 6])).map(({ n }) => n)).toEqual([2]);
});

test("scenarios of a benchmark share a chart, backends do not", () => {
  const series = (scenario: string, backend: string) => ({
    case: {
      section: "compile" as const,
      benchmark: "rxjs",
      profile: "check",
      scenario,
      backend,
      target: "linux-x64",
    },
    fingerprint: "a",
    values: [1],
  });

  const charts = chartsOf([series("full", "js"), series("full", "native"), series("leaf", "js")]);

  expect(charts.map((chart) => chart.series.map((each) => each.case.scenario))).toEqual([
    ["full", "leaf"],
    ["full"],
  ]);
});
