import fc from "fast-check";
import { expect, test } from "vitest";
import type { Graph, GraphDelta, GraphSummary, JobSummary } from "#api/graph.ts";
import { mergeGraphDelta, mergeGraphSummary } from "./merge-graph-delta.ts";

const job = (name: string, version: number): JobSummary => ({
  name,
  kind: "command",
  version,
  state: version === 0 ? "blocked" : "running",
  tags: {},
  runs: version,
  cached: false,
  stale: false,
  customised: false,
  reason: null,
  readyAt: null,
  startedAt: null,
  finishedAt: null,
});

const summary = (version: number, id = "g"): GraphSummary => ({
  id,
  repository: "farm",
  project: "default",
  commit: "0".repeat(40),
  rev: "main",
  subject: "A commit",
  author: "A. Farmer",
  committedAt: "2026-01-01T00:00:00Z",
  catalog: "c",
  set: id,
  setName: null,
  templates: null,
  customised: 0,
  idleMs: 0,
  parent: null,
  branch: "main",
  priority: 0,
  top: false,
  submittedBy: "anyone",
  state: "running",
  version,
  jobs: 3,
  counts: {},
  createdAt: "2026-01-01T00:00:00Z",
  finishedAt: null,
});

const empty: Graph = {
  ...summary(0),
  jobList: [job("a", 0), job("b", 0), job("c", 0)],
  edges: [{ job: "b", on: "a", condition: "success", status: "open", waived: null }],
};

test("replaces changed jobs and keeps the others", () => {
  const merged = mergeGraphDelta(empty, { graph: summary(4), jobs: [job("b", 4)] });

  expect(merged.version).toBe(4);
  expect(merged.jobList.map((each) => each.version)).toEqual([0, 4, 0]);
  expect(merged.jobList[0]).toBe(empty.jobList[0]);
  expect(merged.edges).toBe(empty.edges);
});

test("returns the same graph for a repeated delta", () => {
  const delta: GraphDelta = { graph: summary(4), jobs: [job("b", 4)] };
  const once = mergeGraphDelta(empty, delta);

  expect(mergeGraphDelta(once, delta)).toBe(once);
});

test("a late old delta undoes nothing", () => {
  const now = mergeGraphDelta(empty, { graph: summary(9), jobs: [job("a", 9)] });

  expect(mergeGraphDelta(now, { graph: summary(3), jobs: [job("a", 2)] })).toBe(now);
});

test("adds an unknown job", () => {
  const merged = mergeGraphDelta(empty, { graph: summary(1), jobs: [job("new", 1)] });

  expect(merged.jobList.map((each) => each.name)).toEqual(["a", "b", "c", "new"]);
});

test("any order and repetition of deltas gives the same result", () => {
  const deltas = Array.from(
    { length: 8 },
    (_, index): GraphDelta => ({
      graph: summary(index + 1),
      jobs: ["a", "b", "c"].slice(index % 3).map((name) => job(name, index + 1)),
    }),
  );
  const inOrder = deltas.reduce(mergeGraphDelta, empty);
  const heard = fc
    .array(fc.nat(deltas.length - 1), { maxLength: 20 })
    .map((extra) => [...extra, ...deltas.keys()])
    .chain((indices) => fc.shuffledSubarray(indices, { minLength: indices.length }));

  fc.assert(
    fc.property(heard, (indices) => {
      const end = indices.reduce((graph, index) => {
        const delta = deltas[index];
        return delta === undefined ? graph : mergeGraphDelta(graph, delta);
      }, empty);
      expect(end).toEqual(inOrder);
    }),
  );
});

test("a list of graphs keeps the newest version of each, newest graph first", () => {
  const old = { ...summary(5, "old"), createdAt: "2026-01-01T00:00:00Z" };
  const young = { ...summary(1, "young"), createdAt: "2026-02-01T00:00:00Z" };

  expect(mergeGraphSummary([old], young).map((graph) => graph.id)).toEqual(["young", "old"]);
  expect(mergeGraphSummary([old], { ...old, version: 4 })).toEqual([old]);
  expect(mergeGraphSummary([old], { ...old, version: 6 })[0]?.version).toBe(6);
});
