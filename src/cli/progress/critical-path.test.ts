import { expect, test } from "vitest";
import type { JobSummary } from "#api/graph.ts";
import { sampleEdges, sampleEnded, sampleJob } from "../../../test/support/sample-graph.ts";
import { criticalPath } from "./critical-path.ts";

const byName = (...jobs: JobSummary[]) => new Map(jobs.map((job) => [job.name, job]));

test("the path goes back through what each job had to wait for longest", () => {
  const jobs = byName(
    sampleEnded("install", 0, 3_000),
    sampleEnded("lint", 3_000, 9_000),
    sampleEnded("build", 3_000, 5_000),
    sampleEnded("fast", 0, 10),
    sampleEnded("tests", 9_000, 10_500),
  );
  const edges = sampleEdges(
    ["lint", "install"],
    ["build", "install"],
    ["tests", "lint"],
    ["tests", "build"],
    ["tests", "fast"],
  );

  expect(criticalPath(jobs, edges)).toEqual([
    { job: "install", ms: 3_000 },
    { job: "lint", ms: 6_000 },
    { job: "tests", ms: 1_500 },
  ]);
});

test("what has not ended is on no path", () => {
  const jobs = byName(sampleEnded("a", 0, 100), sampleJob({ name: "b", state: "unreachable" }));

  expect(criticalPath(jobs, sampleEdges(["b", "a"]))).toEqual([{ job: "a", ms: 100 }]);
  expect(criticalPath(byName(), [])).toEqual([]);
});

test("a cycle, which no graph has, is no endless walk", () => {
  const jobs = byName(sampleEnded("a", 0, 100), sampleEnded("b", 0, 100));

  expect(criticalPath(jobs, sampleEdges(["a", "b"], ["b", "a"]))).toEqual([]);
});
