import { expect, test } from "vitest";
import { checkHistory, type Observation, type Violation } from "./history.ts";

const graph = "g1";
const read = (state: string, jobs: Record<string, string> = {}): Observation => ({
  kind: "read",
  graph,
  state,
  jobs,
});
const result = (log: string, output: string | undefined = "t1\n"): Observation => ({
  kind: "result",
  graph,
  job: "a",
  log,
  output,
});
const whole = result("begin t1\nsomething\nend t1\n");
const good: readonly Observation[] = [
  { kind: "submitted", graph },
  read("running", { a: "running", b: "waiting" }),
  read("running", { a: "succeeded", b: "running" }),
  read("succeeded", { a: "succeeded", b: "succeeded" }),
  whole,
  whole,
  { kind: "uploaded", blob: "b1" },
  { kind: "blob", blob: "b1", bytes: "whole" },
  // Nobody was told that the farm has this one.
  { kind: "blob", blob: "b2", bytes: "absent" },
];

test("a correct history violates no promise", () => {
  expect(checkHistory(good)).toEqual([]);
});

/** Histories that each violate a promise, as a farm with a known bug would cause them. */
const bad: readonly [string, readonly Observation[], Violation["promise"]][] = [
  ["an accepted graph is lost", [...good, { kind: "not-found", graph }], "P1"],
  ["an accepted graph is never heard of again", [{ kind: "submitted", graph }], "P1"],
  ["an ended job runs again", [...good, read("succeeded", { a: "running" })], "P3"],
  ["an ended graph changes its end", [...good, read("failed")], "P3"],
  ["a log has two executions", [...good, result("begin t1\nbegin t2\nend t2\n", "t2")], "P2"],
  ["a log is cut short", [...good, result("begin t1\n")], "P2"],
  ["a log is put together from two executions", [result("begin t1\nend t2\n")], "P2"],
  ["a second attempt replaces a result", [...good, result("begin t2\nend t2\n", "t2")], "P2"],
  ["an output is another execution's", [result("begin t1\nend t1\n", "t9")], "P5"],
  ["a result has lost its output", [{ ...whole, output: undefined } as Observation], "P6"],
  [
    "a graph hangs after the faults",
    [
      { kind: "submitted", graph },
      { kind: "gave-up", graph },
    ],
    "P8",
  ],
];

test.each(bad)("%s", (_, history, promise) => {
  expect(checkHistory(history).map((violation) => violation.promise)).toContain(promise);
});
