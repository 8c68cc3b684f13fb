import { expect, test } from "vitest";
import {
  sampleEdges,
  sampleEnded,
  sampleJob,
  sampleTime,
} from "../../test/support/sample-graph.ts";
import { criticalPath } from "./critical-path.ts";

const now = Date.parse(sampleTime(100_000));

test("the path goes back through what each job had to wait for longest", () => {
  const jobs = [
    sampleEnded("install", 0, 3_000),
    sampleEnded("lint", 3_000, 9_000),
    sampleEnded("build", 3_000, 5_000),
    sampleEnded("fast", 0, 10),
    sampleEnded("tests", 9_000, 10_500),
  ];
  const edges = sampleEdges(
    ["lint", "install"],
    ["build", "install"],
    ["tests", "lint"],
    ["tests", "build"],
    ["tests", "fast"],
  );

  expect(criticalPath(jobs, edges, now)).toEqual([
    { job: "install", ms: 3_000, runMs: 3_000 },
    { job: "lint", ms: 6_000, runMs: 6_000 },
    { job: "tests", ms: 1_500, runMs: 1_500 },
  ]);
});

test("a step's waiting is no part of its running", () => {
  const late = { ...sampleEnded("a", 0, 9_000), startedAt: sampleTime(7_000) };

  expect(criticalPath([late], [], now)).toEqual([{ job: "a", ms: 9_000, runMs: 2_000 }]);
});

test("the time in which nobody asked for a job again is in no step", () => {
  const before = sampleEnded("flaky", 0, 200);
  const again = sampleEnded("mid", 13_600, 13_900);

  expect(criticalPath([before, again], sampleEdges(["mid", "flaky"]), now)).toEqual([
    { job: "flaky", ms: 200, runMs: 200 },
    { job: "mid", ms: 300, runMs: 300 },
  ]);
});

test("what has not run is on no path", () => {
  const jobs = [sampleEnded("a", 0, 100), sampleJob({ name: "b", state: "unreachable" })];

  expect(criticalPath(jobs, sampleEdges(["b", "a"]), now)).toMatchObject([{ job: "a", ms: 100 }]);
  expect(criticalPath([], [], now)).toEqual([]);
});

test("a job that runs is what the graph waits for, the oldest of them first", () => {
  const running = (name: string, from: number) =>
    sampleJob({ name, state: "running", startedAt: sampleTime(from) });
  const jobs = [
    sampleEnded("install", 0, 90_000),
    running("young", 99_000),
    running("old", 91_000),
  ];
  const edges = sampleEdges(["young", "install"], ["old", "install"]);

  expect(criticalPath(jobs, edges, now)).toEqual([
    { job: "install", ms: 90_000, runMs: 90_000 },
    { job: "old", ms: 10_000, runMs: 9_000 },
  ]);
});

test("a cycle, which no graph has, is no endless walk", () => {
  const jobs = [sampleEnded("a", 0, 100), sampleEnded("b", 0, 100)];

  expect(criticalPath(jobs, sampleEdges(["a", "b"], ["b", "a"]), now)).toEqual([]);
});
