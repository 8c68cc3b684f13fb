import { describe, expect, test } from "vitest";
import type { EdgeCondition } from "#api/graph.ts";
import type { RerunMode } from "#api/rerun.ts";
import { StoredGraph } from "../advancing/stored-graph.fixture.ts";
import { planRerun, type RerunRequest } from "./plan-rerun.ts";
import type { PlannedGraph } from "./planned-graph.ts";
import { snapshotOfStored } from "./snapshot-of-stored.fixture.ts";

type Need = readonly [job: string, on: string, condition?: EdgeCondition];

async function graphOf(
  names: readonly string[],
  needs: readonly Need[],
  joins: readonly string[] = [],
): Promise<StoredGraph> {
  const graph = new StoredGraph({
    jobs: names.map((name) => ({ name, kind: joins.includes(name) ? "join" : "command" })),
    edges: needs.map(([job, on, condition = "success"]) => ({ job, on, condition })),
  });
  await graph.advance(names);
  return graph;
}

const revive: RerunRequest = { mode: "revive", onlyStale: false, times: 1 };

function plan(graph: StoredGraph, selected: readonly string[], wanted: Partial<RerunRequest> = {}) {
  return planRerun(snapshotOfStored(graph), new Set(selected), { ...revive, ...wanted });
}

function actions({ jobs }: PlannedGraph): Record<string, string> {
  return Object.fromEntries(jobs.map(({ job, does }) => [job, does]));
}

describe("retriggering a failed job", () => {
  /** `a` failed: `b` and the later `c` were skipped; `report` ran at the end. */
  const failed = async () => {
    const graph = await graphOf(
      ["a", "b", "c", "report"],
      [
        ["b", "a"],
        ["c", "b"],
        ["report", "a", "end"],
      ],
    );
    await graph.run("a", "failed");
    await graph.run("report", "succeeded");
    return graph;
  };

  test.each<{ mode: RerunMode; listed: Record<string, string> }>([
    { mode: "revive", listed: { a: "runs", b: "is revived", c: "is revived" } },
    { mode: "alone", listed: { a: "runs", b: "is set inactive", c: "is set inactive" } },
    {
      mode: "downstream",
      listed: { a: "runs", b: "is revived", c: "is revived", report: "runs because downstream" },
    },
  ])("$mode lists $listed", async ({ mode, listed }) => {
    expect(actions(plan(await failed(), ["a"], { mode }))).toEqual(listed);
  });

  test("shows what each job waits for, and why it runs", async () => {
    const { jobs } = plan(await failed(), ["a"]);

    expect(jobs.map(({ job, waitsFor, cause, why }) => ({ job, waitsFor, cause, why }))).toEqual([
      { job: "a", waitsFor: [], cause: "retrigger", why: null },
      { job: "b", waitsFor: ["a"], cause: "revive", why: "skipped because a failed" },
      { job: "c", waitsFor: ["b"], cause: "revive", why: "skipped because a failed" },
    ]);
  });

  test("a skipped job that is requested alone does not run, and names the obstacle", async () => {
    const { jobs, intent } = plan(await failed(), ["b"]);

    expect(jobs).toMatchObject([{ job: "b", does: "is left alone", cause: null }]);
    expect(jobs[0]?.why).toContain("it needs a");
    expect(intent.wants.size).toBe(0);
  });
});

test("a job that waited for the failure is not wanted any more", async () => {
  const graph = await graphOf(
    ["a", "slow", "comfort"],
    [
      ["comfort", "a", "failure"],
      ["comfort", "slow", "end"],
    ],
  );
  await graph.run("a", "failed");

  expect(actions(plan(graph, ["a"]))).toEqual({ a: "runs", comfort: "is skipped" });
});

test("when a and b run again together, b waits for a, also through a join", async () => {
  const graph = await graphOf(
    ["a", "all", "b"],
    [
      ["all", "a"],
      ["b", "all"],
    ],
    ["all"],
  );
  await graph.run("a", "succeeded");
  await graph.run("b", "succeeded");

  const { jobs } = plan(graph, ["a", "b"]);

  expect(jobs.map(({ job, waitsFor }) => [job, waitsFor])).toEqual([
    ["a", []],
    ["b", ["a"]],
  ]);
});

test("only stale jobs run again, and not the cause of their staleness", async () => {
  const graph = await graphOf(
    ["a", "b", "c", "d"],
    [
      ["b", "a"],
      ["c", "b"],
    ],
  );
  for (const name of ["a", "b", "c", "d"]) await graph.run(name, "succeeded");
  await graph.want(["a"], "retrigger");
  await graph.run("a", "succeeded", "succeeded otherwise");

  expect(actions(plan(graph, ["a", "d"], { onlyStale: true }))).toEqual({
    b: "runs because downstream",
    c: "runs because downstream",
  });
});

test("running jobs are left alone", async () => {
  const graph = await graphOf(["a", "b"], [["b", "a"]]);
  await graph.begin("a");

  const { jobs } = plan(graph, ["a", "b"]);

  expect(jobs.map(({ job, does, why }) => [job, does, why])).toEqual([
    ["a", "is left alone", "it is running already"],
    ["b", "is left alone", "it is going to run anyway"],
  ]);
});

test("a job that never ran is activated, and may use the cache", async () => {
  const graph = await graphOf(["a"], []);
  await graph.setAside("a", "inactive");

  expect(plan(graph, ["a"]).jobs).toMatchObject([{ does: "runs", cause: "activate" }]);
});
