import { expect, test } from "vitest";
import type { SetMetric } from "#api/times.ts";
import { metricOf } from "./metric.ts";

const waiting: SetMetric = {
  measure: "wait",
  figure: { kind: "share", withinSeconds: 900, goal: 0.95 },
  group: "pool",
  ofRecord: true,
};

test.each([
  {
    what: "a share within a time",
    options: { within: 900_000, goal: "95", record: true },
    is: {
      measure: "wait",
      figure: { kind: "share", withinSeconds: 900, goal: 0.95 },
      ofRecord: true,
    },
  },
  {
    what: "a percentile of graphs' times",
    options: { measure: "end-to-end" as const, percentile: "90", window: 86_400_000 },
    is: {
      measure: "end-to-end",
      figure: { kind: "percentile", percentile: 90 },
      windowSeconds: 86_400,
      ofRecord: false,
    },
  },
])("$what is set by options", ({ options, is }) => {
  expect(metricOf(options, undefined)).toEqual(is);
});

test("what the options leave out stays as it is", () => {
  expect(metricOf({ goal: "90 %" }, waiting)).toMatchObject({
    ...waiting,
    figure: { kind: "share", withinSeconds: 900, goal: 0.9 },
  });
});

test.each([
  { options: {}, says: "choose the figure of the metric" },
  { options: { within: 1, percentile: "90" }, says: "exclude each other" },
  { options: { goal: "95" }, says: "--goal needs a share" },
  { options: { percentile: "x" }, says: "--percentile takes a number from 0 to 100" },
])("$options is refused: $says", ({ options, says }) => {
  expect(() => metricOf(options, undefined)).toThrow(says);
});
