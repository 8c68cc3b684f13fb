import { expect, test } from "vitest";
import { jobStates } from "#api/job-state.ts";
import {
  sampleEdges,
  sampleEnded,
  sampleGraph,
  sampleJob,
  sampleTime,
} from "../../../test/support/sample-graph.ts";
import { paintFor } from "../terminal/paint.ts";
import { widthOf } from "../terminal/table.ts";
import { closingLines } from "./closing-lines.ts";
import { viewOf } from "./graph-view.ts";
import { progressBlock } from "./progress-block.ts";
import { transitionLine } from "./transition-line.ts";

const paint = paintFor(false);
const now = new Date(sampleTime(5_000));

test("the block says of each job its state, its time and why it waits", () => {
  const view = viewOf(
    sampleGraph([
      sampleEnded("install", 0, 3_000),
      sampleJob({ name: "lint", state: "running", runs: 1, startedAt: sampleTime(4_000) }),
      { ...sampleEnded("build", 0, 1), cached: true },
      sampleJob({ name: "tests", reason: "waits for\u001b[2J lint" }),
    ]),
  );

  expect(progressBlock(view, now, { columns: 80, rows: 24, paint })).toEqual([
    "✓ install        3.0 s  ok",
    "▶ lint           1.0 s  running",
    "✓ build                 hit",
    "· tests                 waits for lint",
    "4 jobs, 2 executed, 1 from the cache",
  ]);
});

test("every state fits, in any width, and a terminal's height is kept", () => {
  const jobs = Array.from({ length: 200 }, (_, index) =>
    sampleJob({
      name: `a-job-with-quite-a-long-name-${index}`,
      state: jobStates[index % jobStates.length] ?? "blocked",
      reason: "a reason that goes on and on and on and on and on and on",
      startedAt: sampleTime(0),
    }),
  );
  const view = viewOf(sampleGraph(jobs));

  for (const columns of [60, 80, 200]) {
    const lines = progressBlock(view, now, { columns, rows: 24, paint: paintFor(true) });
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(columns);
  }
});

test("when not all fit, what runs and what failed is seen", () => {
  const waiting = Array.from({ length: 50 }, (_, index) => sampleJob({ name: `w${index}` }));
  const failed = sampleJob({ name: "broken", state: "failed" });
  const view = viewOf(sampleGraph([...waiting, failed]));

  const lines = progressBlock(view, now, { columns: 80, rows: 10, paint });

  expect(lines.some((line) => line.includes("broken"))).toBe(true);
  expect(lines.at(-2)).toContain("and 46 more");
});

test("the end says how it ended, what took so long, and where to read why", () => {
  const view = viewOf(
    sampleGraph(
      [
        sampleEnded("install", 0, 3_000),
        { ...sampleEnded("tests", 3_000, 9_000), state: "failed" },
      ],
      sampleEdges(["tests", "install"]),
      { state: "failed" },
    ),
  );

  expect(closingLines(view, 9_100, paint)).toEqual([
    "Graph failed in 9.1 s: 2 jobs, 2 executed, 0 from the cache, 1 failed",
    "Critical path: install 3.0 s → tests 6.0 s",
    "To see the log: grange logs 3f2a0000 tests",
  ]);
});

test("a line for a transition tells its time, its run and its reason", () => {
  const failed = { ...sampleEnded("t", 0, 90_000), state: "failed" as const, runs: 2 };

  expect(transitionLine({ ...failed, reason: "exit code 1" }, now, paint)).toBe(
    "✗ t failed (1 min 30 s, run 2, exit code 1)",
  );
});
