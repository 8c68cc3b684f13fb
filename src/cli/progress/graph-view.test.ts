import { expect, test } from "vitest";
import { sampleGraph, sampleJob } from "../../../test/support/sample-graph.ts";
import { transitions, viewOf, withDelta } from "./graph-view.ts";

const queued = sampleJob({ name: "a", state: "queued", version: 3 });
const running = sampleJob({ name: "a", state: "running", version: 4 });
const before = viewOf(sampleGraph([queued, sampleJob({ name: "b" })], [], { version: 3 }));
const { jobList: _, edges: __, ...later } = sampleGraph([], [], { version: 4 });

test("a delta changes what it names and leaves the rest", () => {
  const after = withDelta(before, { graph: later, jobs: [running] });

  expect(transitions(before, after).map((job) => job.name)).toEqual(["a"]);
  expect(after.jobs.get("b")?.state).toBe("blocked");
  expect(after.graph.version).toBe(4);
});

test("an older delta that arrives late changes nothing", () => {
  const after = withDelta(before, { graph: later, jobs: [running] });
  const late = withDelta(after, { graph: { ...later, version: 3 }, jobs: [queued] });

  expect(transitions(after, late)).toEqual([]);
  expect(late.graph.version).toBe(4);
});

test("another run of a job that failed is a transition, though it failed again", () => {
  const failed = (runs: number) => sampleJob({ name: "a", state: "failed", version: runs, runs });
  const once = viewOf(sampleGraph([failed(1)]));

  const twice = withDelta(once, { graph: later, jobs: [failed(2)] });

  expect(transitions(once, twice).map((job) => job.runs)).toEqual([2]);
});
