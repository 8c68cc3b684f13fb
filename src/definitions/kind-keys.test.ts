import { expect, test } from "vitest";
import { JobDefinition } from "./job-definition.ts";

function problemsOf(job: Record<string, unknown>): string[] {
  const parsed = JobDefinition.safeParse(job);
  return parsed.success ? [] : parsed.error.issues.map((issue) => issue.message);
}

test.each([
  {
    kind: "breakpoint",
    release: "ops-*",
    message: "look at it",
    patience: "2h",
    "on-expiry": "skip-bad",
  },
  { kind: "timer", at: "19:00", timezone: "Europe/Berlin" },
  { kind: "timer", after: "10m" },
  { kind: "notify", to: "https://hooks.example/build", message: "done" },
  { kind: "graph", commands: "./generate", output: "farm.yml", retries: 1 },
  { kind: "graph", definitions: { version: 1, jobs: {} } },
  { kind: "graph", catalog: `${"0".repeat(64)}/12` },
  { kind: "graph", graph: "nightly", parameters: { level: 3 }, switches: { pgo: true } },
  { kind: "dummy" },
  {
    kind: "dummy",
    outputs: "app",
    retries: 2,
    dummy: { outcomes: ["failed", "succeeded"], after: "50ms" },
  },
  {
    commands: "x",
    chunks: { items: ["a", "b"], min: 2, max: 4, budget: "30s", results: "t.json" },
  },
  { commands: "x", needs: ["list"], chunks: { from: { job: "list", output: "items.txt" } } },
])("$kind: %o is a job", (job) => {
  expect(problemsOf(job)).toEqual([]);
});

test.each([
  { job: { kind: "timer", commands: "x", after: "1m" }, says: 'a timer job has no "commands"' },
  { job: { kind: "timer" }, says: 'a timer needs one of "at"' },
  { job: { kind: "timer", at: "19:00", after: "1m" }, says: 'a timer needs one of "at"' },
  { job: { kind: "timer", at: "25:00" }, says: 'must be a time of day such as "19:00"' },
  { job: { kind: "timer", at: "19:00", timezone: "Mars/North" }, says: "the name of a time zone" },
  { job: { kind: "breakpoint", retries: 2 }, says: 'a breakpoint job has no "retries"' },
  { job: { kind: "breakpoint", patience: "100d" }, says: "must be a duration from 1s to 30d" },
  { job: { kind: "notify" }, says: 'a notify job needs "to"' },
  { job: { kind: "notify", to: "file:///etc/passwd" }, says: "must be an http(s) URL" },
  { job: { kind: "graph" }, says: 'a graph job needs one of "commands"' },
  { job: { kind: "graph", commands: "x", definitions: {} }, says: "a graph job needs one of" },
  { job: { kind: "graph", graph: "n", definitions: {} }, says: "a graph job needs one of" },
  {
    job: { kind: "graph", definitions: {}, parameters: { level: 3 } },
    says: '"parameters" are given to a graph by its name',
  },
  { job: { commands: "x", switches: { pgo: true } }, says: 'a command job has no "switches"' },
  { job: { kind: "graph", commands: "x", chunks: { items: ["a"] } }, says: 'has no "chunks"' },
  { job: { commands: "x", dummy: {} }, says: 'a command job has no "dummy"' },
  {
    job: { commands: "x", patience: "1h" },
    says: 'a command job has no "patience" (breakpoint jobs have)',
  },
  { job: { kind: "join", outputs: "x" }, says: "a join job runs nothing" },
  { job: { commands: "x", chunks: {} }, says: 'chunks need one of "items" and "from"' },
  { job: { commands: "x", chunks: { items: ["a", "a"] } }, says: "an item is named twice" },
  {
    job: { commands: "x", chunks: { items: ["a"], min: 5, max: 2 } },
    says: "min is more than max",
  },
  {
    job: { commands: "x", chunks: { from: { job: "l", output: "o" } } },
    says: "must be among the needs",
  },
  { job: { kind: "sleep" }, says: "must be one of command, join" },
])("$says: $job", ({ job, says }) => {
  expect(problemsOf(job).join("\n")).toContain(says);
});
