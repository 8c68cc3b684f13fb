import { expect, test } from "vitest";
import { stepName, stepsToDo } from "./demo-steps.ts";

const commits = ["a", "b", "c"];
const everything = { hasCompiler: true, hasCcache: true };
const names = (...given: Parameters<typeof stepsToDo>) => stepsToDo(...given).map(stepName);

test("everything is to be done at first: earlier commits, then the rest", () => {
  expect(names(commits, new Set(), everything)).toEqual([
    "graph a",
    "graph b",
    "release c",
    "remote-build",
    "ccache",
    "benchmarks",
  ]);
});

test("what is done is not done again", () => {
  const done = new Set(["graph a", "release c", "remote-build"]);

  expect(names(commits, done, everything)).toEqual(["graph b", "ccache", "benchmarks"]);
});

test.each([
  { hasCompiler: false, hasCcache: true },
  { hasCompiler: true, hasCcache: false },
])("ccache is left out where a program is missing: %o", (tools) => {
  expect(names(commits, new Set(), tools)).not.toContain("ccache");
});

test("graphs of another history are made, though those of an older one are done", () => {
  expect(names(["x", "y"], new Set(["graph a", "graph b"]), everything).slice(0, 2)).toEqual([
    "graph x",
    "release y",
  ]);
});
