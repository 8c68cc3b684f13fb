import { expect, test } from "vitest";
import type { GraphDelta, JobDetail } from "#api/graph.ts";
import type { JobPage } from "#api/job-page.ts";
import { madeUpGraph, smallPlan } from "../../dev/made-up-graph.ts";
import { isOld, keepNewer, mergeJobPage } from "./merge-job-page.ts";

const graph = madeUpGraph("g", smallPlan, {
  repository: "grange",
  subject: "A commit",
  author: "Ada",
  rev: "main",
  createdAt: new Date("2026-01-01T12:00:00Z"),
});
const waited = graph.jobList.find(({ name }) => graph.edges.some(({ on }) => on === name));
if (waited === undefined) throw new Error("the plan has no edge");
const waiting = graph.edges.find(({ on }) => on === waited.name)?.job;
const neighbour = graph.jobList.find(({ name }) => name === waiting);
if (neighbour === undefined) throw new Error("the edge has no job");
const { jobList: _, edges: __, ...summary } = graph;
const page: JobPage = {
  // Only these parts are read.
  detail: { graph: summary, job: waited } as JobDetail,
  neighbours: [{ name: neighbour.name, state: neighbour.state }],
  failure: null,
};

/** A message of the stream in which a job has another state. */
const delta = (version: number, job = neighbour): GraphDelta => ({
  graph: { ...summary, version },
  jobs: [{ ...job, version, state: "running" }],
});
const stateOf = (of: typeof page) =>
  of.neighbours.find(({ name }) => name === neighbour.name)?.state;

test("a message of the stream changes the state of a neighbour and of the graph", () => {
  const merged = mergeJobPage(page, delta(graph.version + 1));

  expect(stateOf(merged)).toBe("running");
  expect(merged.detail.graph.version).toBe(graph.version + 1);
  expect(merged.detail.job).toBe(page.detail.job);
});

test("a repeated message changes nothing", () => {
  expect(mergeJobPage(page, delta(graph.version))).toBe(page);
});

test("a slow answer does not undo what the stream has reported", () => {
  const ahead = mergeJobPage(page, delta(graph.version + 1));

  expect(stateOf(keepNewer(ahead, page))).toBe("running");
  expect(keepNewer(ahead, page).detail.graph.version).toBe(graph.version + 1);
  expect(keepNewer(page, ahead)).toBe(ahead);
});

test("only a newer version of the job itself makes the page old", () => {
  expect(isOld(page, delta(waited.version + 1, waited))).toBe(true);
  expect(isOld(page, delta(waited.version, waited))).toBe(false);
  expect(isOld(page, delta(graph.version + 1))).toBe(false);
});
