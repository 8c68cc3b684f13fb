import { expect, test } from "vitest";
import { sampleGraph, sampleJob } from "../../../test/support/sample-graph.ts";
import { viewOf } from "./graph-view.ts";
import { jobToExplain } from "./note-missing-workers.ts";

const job = (name: string, state: "queued" | "running" | "blocked") => sampleJob({ name, state });

test.each([
  { states: ["blocked", "queued", "queued"] as const, explained: "job-1" },
  { states: ["queued", "running"] as const, explained: undefined },
  { states: ["blocked"] as const, explained: undefined },
])("of jobs that are $states, $explained is explained", ({ states, explained }) => {
  const view = viewOf(sampleGraph(states.map((state, n) => job(`job-${n}`, state))));

  expect(jobToExplain(view)).toBe(explained);
});
