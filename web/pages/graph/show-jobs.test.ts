import { expect, test } from "vitest";
import type { Edge, JobSummary } from "#api/graph.ts";
import { criticalPath } from "./critical-path.ts";
import { filterJobs, sortByAttention } from "./filter-jobs.ts";
import { groupJobs, groupName } from "./group-jobs.ts";

const job = (name: string, more: Partial<JobSummary> = {}): JobSummary => ({
  name,
  kind: "command",
  state: "blocked",
  version: 1,
  tags: {},
  runs: 0,
  cached: false,
  stale: false,
  customised: false,
  reason: null,
  readyAt: null,
  startedAt: null,
  finishedAt: null,
  ...more,
});
const ended = (name: string, second: number) =>
  job(name, { state: "succeeded", finishedAt: new Date(second * 1_000).toISOString() });
const edge = (each: string, on: string): Edge => ({
  job: each,
  on,
  condition: "success",
  status: "open",
  waived: null,
});
const names = (jobs: readonly JobSummary[]) => jobs.map((each) => each.name);

test("the critical path goes back over the dependency that ended last", () => {
  const jobs = [ended("install", 5), ended("lint", 6), ended("types", 20), ended("build", 30)];
  const edges = [
    edge("lint", "install"),
    edge("types", "install"),
    edge("build", "lint"),
    edge("build", "types"),
  ];

  expect(criticalPath(jobs, edges)).toEqual(["build", "types", "install"]);
});

test("a job that runs is what the graph waits for, the oldest of them first", () => {
  const running = (name: string, second: number) =>
    job(name, { state: "running", startedAt: new Date(second * 1_000).toISOString() });
  const jobs = [ended("install", 90), running("young", 99), running("old", 91)];

  expect(criticalPath(jobs, [edge("young", "install"), edge("old", "install")])).toEqual([
    "old",
    "install",
  ]);
});

test("a graph in which nothing has run has no critical path", () => {
  expect(criticalPath([job("a"), job("b")], [edge("b", "a")])).toEqual([]);
});

test("filters by state, and by words in name, tag and reason", () => {
  const jobs = [
    job("unit/a", { state: "failed" }),
    job("unit/b", { reason: "skipped because unit/a failed", state: "unreachable" }),
    job("build", { tags: { platform: "linux" } }),
  ];

  expect(names(filterJobs(jobs, { states: new Set(["failed"]), text: "" }))).toEqual(["unit/a"]);
  expect(names(filterJobs(jobs, { states: new Set(), text: "UNIT because" }))).toEqual(["unit/b"]);
  expect(names(filterJobs(jobs, { states: new Set(), text: "linux" }))).toEqual(["build"]);
});

test("what failed comes first, what succeeded last", () => {
  const jobs = [
    job("a", { state: "succeeded" }),
    job("b", { state: "running" }),
    job("c", { state: "failed" }),
  ];

  expect(names(sortByAttention(jobs))).toEqual(["c", "b", "a"]);
});

test.each([
  ["unit/linux/3", "unit/linux"],
  ["shard-12", "shard"],
  ["test12", "test"],
  ["lint", ""],
])("%s belongs to the group '%s'", (name, expected) => {
  expect(groupName(name)).toBe(expected);
});

test("groups with a failure come first", () => {
  const groups = groupJobs([job("a/1"), job("b/1", { state: "failed" }), job("a/2")]);

  expect(groups.map((group) => [group.name, group.jobs.length])).toEqual([
    ["b", 1],
    ["a", 2],
  ]);
});
