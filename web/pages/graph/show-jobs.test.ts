import { expect, test } from "vitest";
import type { JobSummary } from "#api/graph.ts";
import { filterJobs, sortByAttention } from "./filter-jobs.ts";
import { groupJobs, groupName } from "./group-jobs.ts";
import { readJobFilter } from "./job-filter.ts";

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
const names = (jobs: readonly JobSummary[]) => jobs.map((each) => each.name);

test("filters by state, and by words in name, tag and reason", () => {
  const jobs = [
    job("unit/a", { state: "failed" }),
    job("unit/b", { reason: "skipped because unit/a failed", state: "unreachable" }),
    job("build", { tags: { platform: "linux" } }),
  ];

  expect(
    names(filterJobs(jobs, { states: new Set(["failed"]), wanted: readJobFilter("") })),
  ).toEqual(["unit/a"]);
  expect(
    names(filterJobs(jobs, { states: new Set(), wanted: readJobFilter("UNIT because") })),
  ).toEqual(["unit/b"]);
  expect(names(filterJobs(jobs, { states: new Set(), wanted: readJobFilter("linux") }))).toEqual([
    "build",
  ]);
});

test("characters of the grammar make the filter a selection; an incomplete one hides nothing and shows what is missing", () => {
  const jobs = [job("unit", { tags: { kind: "test" } }), job("lint", { tags: { kind: "check" } })];
  const shown = (text: string) =>
    names(filterJobs(jobs, { states: new Set(), wanted: readJobFilter(text) }));

  expect(shown("kind:test")).toEqual(["unit"]);
  expect(shown("!kind:test | unit")).toEqual(["unit", "lint"]);
  expect(shown("kind:test &")).toEqual(["unit", "lint"]);
  expect(readJobFilter("kind:test &")).toMatchObject({ kind: "problem" });
});

test("failed jobs come first, successful ones last", () => {
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
