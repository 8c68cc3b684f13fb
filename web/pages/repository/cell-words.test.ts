import { expect, test } from "vitest";
import type { GridCell } from "#api/commit-grid.ts";
import { cellWords } from "./cell-words.ts";

const cell: GridCell = {
  column: "unit",
  state: "failed",
  job: "unit/3",
  jobs: 1,
  failed: 1,
  failure: "expected 3, got 4",
};

test.each<[string, Partial<GridCell>, string]>([
  ["a job that failed", {}, "unit/3: failed: expected 3, got 4"],
  ["a job that runs", { state: "running", failed: 0, failure: null }, "unit/3: running"],
  [
    "a kind with failures",
    { jobs: 40, failed: 2 },
    "unit: 2 of 40 jobs failed, first unit/3: expected 3, got 4",
  ],
  [
    "a kind without failures",
    { jobs: 40, failed: 0, failure: null, state: "succeeded" },
    "unit: 40 jobs, succeeded",
  ],
  [
    "jobs without a column",
    { column: null, jobs: 9, failed: 0, failure: null, state: "queued" },
    "others: 9 jobs, queued",
  ],
])("describes %s", (_, change, words) => {
  expect(cellWords({ ...cell, ...change })).toBe(words);
});

test("shortens a name of 10,000 characters", () => {
  expect(cellWords({ ...cell, job: "x".repeat(10_000) })).toHaveLength(301);
});
