import { expect, test } from "vitest";
import type { JobEnd } from "#local-run/run-jobs.ts";
import { exitCodeOf } from "./run-here.ts";

function ran(exitCode: number | undefined, succeeded = exitCode === 0): JobEnd {
  return { kind: "ran", succeeded, exitCode, message: "", result: undefined, durationMs: 1 };
}

test.each<[what: string, asked: string[], ends: [string, JobEnd][], code: number]>([
  [
    "0 where all succeeded",
    ["a", "b"],
    [
      ["a", ran(0)],
      ["b", { kind: "nothing-to-run" }],
    ],
    0,
  ],
  [
    "that of the one job",
    ["a"],
    [
      ["need", ran(0)],
      ["a", ran(7)],
    ],
    7,
  ],
  [
    "1 where one of several failed",
    ["a", "b"],
    [
      ["a", ran(7)],
      ["b", ran(0)],
    ],
    1,
  ],
  [
    "1 where the job was skipped",
    ["a"],
    [
      ["need", ran(7)],
      ["a", { kind: "skipped", because: "" }],
    ],
    1,
  ],
  ["1 where a job that exits with 0 failed", ["a"], [["a", ran(0, false)]], 1],
  ["1 where the job did not start", ["a"], [["a", ran(undefined, false)]], 1],
])("the exit code is %s", (_, asked, ends, code) => {
  expect(exitCodeOf(asked, new Map(ends))).toBe(code);
});
