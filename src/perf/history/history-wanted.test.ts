import { describe, expect, test } from "vitest";
import type { Metric } from "#core/benchmark-metric.ts";
import { historiesWanted, untilAccepted } from "./history-wanted.ts";

const metric = (name: string, nature: Metric["nature"], decides = true): Metric => ({
  name,
  nature,
  decides,
  unit: "count",
  better: "lower",
});
const metrics = [
  metric("shown", "deterministic"),
  metric("other", "deterministic"),
  metric("time", "noisy"),
  metric("size", "exact"),
  metric("aside", "deterministic", false),
];
const ordinals = new Map(metrics.map(({ name }, i) => [name, i + 1]));
const figures = (least: (number | null)[], environmentId = 1) => ({
  artifactId: 1,
  caseId: 7,
  environmentId,
  collector: "c1",
  least,
  scatter: null,
});

describe("histories are read", () => {
  const wanted = (after: (number | null)[], shown: string | undefined = "shown") =>
    historiesWanted({
      before: [figures([100, 100, 100, 100, 100])],
      after: [figures(after)],
      metrics,
      ordinals,
      shown,
    }).map(({ ordinal }) => ordinal);

  test("always of the displayed metric, and of others when a value differs", () => {
    expect(wanted([100, 100, 100, 100, 100])).toEqual([1]);
    expect(wanted([101, 101, 101, 101, 101])).toEqual([1, 2]);
  });

  test("of no metric whose change is below the smallest threshold", () => {
    expect(wanted([100, 100.199, 1, 1, 1])).toEqual([1]);
    expect(wanted([100, 100.2, 1, 1, 1])).toEqual([1, 2]);
  });

  test("of no metric that one of the two artifacts lacks, or that was measured on different machines", () => {
    expect(wanted([null, null, 1, 1, 1])).toEqual([]);
    expect(
      historiesWanted({
        before: [figures([100, 100], 1)],
        after: [figures([200, 200], 2)],
        metrics,
        ordinals,
        shown: "shown",
      }),
    ).toEqual([]);
  });
});

describe("a history ends at the last step that was accepted", () => {
  const step = (artifactId: number) => ({ caseId: 7, environmentId: 1, metric: 1, artifactId });
  const until = (...accepted: number[]) =>
    untilAccepted([30, 20, 10], 40, accepted.map(step))(7, 1, 1);

  test.each([
    { accepted: [], expected: 3, why: "none: all count" },
    {
      accepted: [20],
      expected: 2,
      why: "the first after the step counts, what lies before does not",
    },
    { accepted: [10, 30], expected: 1, why: "of two the last" },
    { accepted: [40], expected: 0, why: "at the earlier artifact itself: nothing before it" },
    { accepted: [99], expected: 3, why: "elsewhere on the line" },
  ])("$why", ({ accepted, expected }) => {
    expect(until(...accepted)).toBe(expected);
  });

  test("a step of another series does not end it", () => {
    expect(untilAccepted([30, 20, 10], 40, [step(20)])(7, 2, 1)).toBe(3);
  });
});
