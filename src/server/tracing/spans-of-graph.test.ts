import { expect, test } from "vitest";
import { GraphId } from "#graphs/graph-id.ts";
import type { EndedGraph } from "#graphs/graph-span.store.ts";
import { spanIdOfJob, spanOfExecutionOf } from "#graphs/job-span.ts";
import { spansOfGraph } from "./spans-of-graph.ts";

const id = GraphId.parse("00000000-0000-4000-8000-000000000001");
const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const job = {
  name: "build",
  kind: "command",
  state: "succeeded",
  runs: 1,
  cached: false,
  readyAt: new Date(2_000),
  queuedAt: new Date(2_100),
  finishedAt: new Date(5_000),
};
const graph: EndedGraph = {
  id,
  place: { traceId, spanId: "00f067aa0ba902b7", parentId: null },
  project: "default",
  commit: "a".repeat(40),
  state: "succeeded",
  startedAt: new Date(1_000),
  finishedAt: new Date(5_000),
  sentUntil: null,
  jobs: [job],
};

test("jobs are below their graph, and executions below their job", () => {
  const [own, ofJob, preparing] = spansOfGraph(graph);

  expect(own).toMatchObject({ name: "graph", startMs: 1_000, endMs: 5_000, place: graph.place });
  expect(ofJob).toMatchObject({ name: "job", startMs: 2_000, endMs: 5_000 });
  expect(ofJob?.place.parentId).toBe(graph.place.spanId);
  expect(preparing).toMatchObject({ name: "prepare", startMs: 2_000, endMs: 2_100 });
  expect(spanOfExecutionOf({ graphId: id, job: "build" }, traceId)).toMatchObject({
    traceId,
    parentId: ofJob?.place.spanId,
  });
});

test("a graph that ran again adds the jobs that ran, and not itself", () => {
  const spans = spansOfGraph({ ...graph, sentUntil: new Date(4_000) });

  expect(spans.map(({ name }) => name)).toEqual(["job", "prepare"]);
  expect(spans[0]?.place.spanId).toBe(spanIdOfJob({ graphId: id, job: "build" }));
});

test("a graph contains its jobs although the clocks of its servers differ", () => {
  const [own] = spansOfGraph({
    ...graph,
    startedAt: new Date(2_003),
    jobs: [{ ...job, finishedAt: new Date(5_001) }],
  });

  expect(own).toMatchObject({ startMs: 2_000, endMs: 5_001 });
});

test("an execution of a graph without a trace has no span", () => {
  expect(spanOfExecutionOf({ graphId: id, job: "build" }, null)).toBeUndefined();
});
