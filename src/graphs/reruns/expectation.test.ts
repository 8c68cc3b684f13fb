import { expect, test } from "vitest";
import type { PlannedJob } from "#api/rerun.ts";
import { expectationOf } from "./expectation.ts";

function planned(
  job: string,
  expectedMs: number | null,
  waitsFor: string[] = [],
  times = 1,
): PlannedJob {
  const rest = {
    graph: "g",
    state: "failed",
    does: "runs",
    cause: "retrigger",
    why: null,
  } as const;
  return { ...rest, job, expectedMs, waitsFor, times };
}

test("the longest chain counts each job once per run; unknown durations count as zero", () => {
  const jobs = [
    planned("build", 60_000),
    planned("lint", 10_000),
    planned("test", 30_000, ["build", "lint"], 4),
    planned("new", null, ["lint"]),
  ];

  expect(expectationOf(jobs, () => true, 2)).toEqual({
    runs: 7,
    endToEndMs: 180_000,
    workerMs: 190_000,
    cost: expect.closeTo(6.333, 3),
    unknownJobs: 1,
    criticalPath: [
      { graph: "g", job: "build" },
      { graph: "g", job: "test" },
    ],
  });
});

test("a job without a machine takes time, but no worker; without a price there is no cost", () => {
  expect(expectationOf([planned("timer", 60_000)], () => false, 0)).toMatchObject({
    endToEndMs: 60_000,
    workerMs: 0,
    cost: null,
  });
});

test("jobs that do not run take no time", () => {
  const left = { ...planned("a", 5_000), does: "is left alone", cause: null } as const;

  expect(expectationOf([left], () => true, 1)).toMatchObject({
    runs: 0,
    endToEndMs: 0,
    criticalPath: [],
  });
});
