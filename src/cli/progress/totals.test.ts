import { expect, test } from "vitest";
import { sampleGraph, sampleJob, sampleTime } from "../../../test/support/sample-graph.ts";
import { viewOf } from "./graph-view.ts";
import { totalsOf } from "./totals.ts";

test("only runs that a worker began count as executed", () => {
  const startedAt = sampleTime(0);
  const jobs = [
    sampleJob({ name: "blocked" }),
    sampleJob({ name: "queued", state: "queued", runs: 1 }),
    sampleJob({ name: "running", state: "running", runs: 1, startedAt }),
    sampleJob({ name: "again", state: "queued", runs: 2 }),
    sampleJob({ name: "hit", state: "succeeded", runs: 1, cached: true }),
    sampleJob({ name: "cancelled-before", state: "cancelled", runs: 1 }),
    sampleJob({ name: "unpreparable", state: "failed", runs: 1 }),
    sampleJob({ name: "failed", state: "failed", runs: 2, startedAt }),
  ];

  const totals = totalsOf(viewOf(sampleGraph(jobs)));

  // The running one, the first run of the retried one, and both failed ones.
  expect(totals).toEqual({ jobs: 8, executed: 4, hits: 1, failed: 2 });
});
