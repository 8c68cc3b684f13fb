import { describe, expect, test } from "vitest";
import type { EdgeCondition, JobKind } from "#api/graph.ts";
import { StoredGraph } from "./stored-graph.fixture.ts";

const edge = (job: string, on: string, condition: EdgeCondition = "success") => ({
  job,
  on,
  condition,
});

async function begun(
  names: readonly string[],
  edges: readonly ReturnType<typeof edge>[],
  joins: readonly string[] = [],
) {
  const kindOf = (name: string): JobKind => (joins.includes(name) ? "join" : "command");
  const graph = new StoredGraph({
    jobs: names.map((name) => ({ name, kind: kindOf(name) })),
    edges,
  });
  await graph.advance(names);
  return graph;
}

describe("a graph", () => {
  test("begins with what waits for nothing", async () => {
    const graph = await begun(["a", "b", "c"], [edge("b", "a")]);

    expect(graph.states()).toEqual({ a: "ready", b: "blocked", c: "ready" });
  });

  test("goes on when what a job waits for has succeeded", async () => {
    const graph = await begun(["a", "b"], [edge("b", "a")]);

    await graph.run("a", "succeeded");

    expect(graph.states()).toEqual({ a: "succeeded", b: "ready" });
  });

  test("a failure makes all that hangs on it unreachable, and each names the job that began it", async () => {
    const graph = await begun(["a", "b", "c"], [edge("b", "a"), edge("c", "b")]);

    await graph.run("a", "failed");

    expect(graph.states()).toEqual({ a: "failed", b: "unreachable", c: "unreachable" });
    expect(graph.job("c").reason).toBe("skipped because a failed");
  });

  test("a failed job that runs anew and passes: what was skipped runs, what had run is only stale", async () => {
    const graph = await begun(["a", "b", "c"], [edge("b", "a"), edge("c", "a", "end")]);
    await graph.run("a", "failed");
    await graph.run("c", "succeeded");

    await graph.want(["a"], "retrigger");
    expect(graph.states()).toEqual({ a: "ready", b: "blocked", c: "succeeded" });

    await graph.run("a", "succeeded");
    expect(graph.states()).toEqual({ a: "succeeded", b: "ready", c: "succeeded" });
    expect(graph.job("b")).toMatchObject({ wanted: "revive", reason: null });
    expect(graph.stale()).toEqual(["c"]);
  });

  test("a and b that run anew together: b waits for the new a", async () => {
    const graph = await begun(["a", "b"], [edge("b", "a")]);
    await graph.run("a", "succeeded");
    await graph.run("b", "failed");

    await graph.want(["a", "b"], "retrigger");
    expect(graph.states()).toEqual({ a: "ready", b: "blocked" });

    await graph.run("a", "succeeded");
    expect(graph.job("b").state).toBe("ready");
  });

  test("a retrigger that gives the same again makes nothing stale", async () => {
    const graph = await begun(["a", "b"], [edge("b", "a")]);
    await graph.run("a", "succeeded", "succeeded 1");
    await graph.run("b", "succeeded");

    await graph.want(["a"], "retrigger");
    await graph.run("a", "succeeded", "succeeded 1");

    expect(graph.stale()).toEqual([]);
  });

  test("what is stale makes stale all that was built on it, until it runs anew", async () => {
    const graph = await begun(["a", "b", "c"], [edge("b", "a"), edge("c", "b")]);
    for (const name of ["a", "b", "c"]) await graph.run(name, "succeeded", "succeeded 1");

    await graph.want(["a"], "retrigger");
    await graph.run("a", "succeeded", "succeeded 2");
    expect(graph.stale()).toEqual(["b", "c"]);

    await graph.want(["b"], "downstream");
    await graph.run("b", "succeeded", "succeeded 1");
    expect(graph.stale()).toEqual([]);
  });

  test("what waits for a failure is not needed when none comes", async () => {
    const graph = await begun(["a", "b"], [edge("b", "a", "failure")]);

    await graph.run("a", "succeeded");

    expect(graph.job("b")).toMatchObject({
      state: "unreachable",
      reason: "not needed: a succeeded",
    });
  });

  test("what waits for an end also learns of an end that was no run", async () => {
    const graph = await begun(["a", "b", "c"], [edge("b", "a"), edge("c", "b", "end")]);

    await graph.run("a", "failed");

    expect(graph.job("c").state).toBe("ready");
  });

  test.each([
    { outcome: "timed_out", failureClass: null, met: ["late"] },
    { outcome: "failed", failureClass: "crash", met: ["crashed"] },
    { outcome: "failed", failureClass: null, met: [] },
  ] as const)(
    "$outcome in class $failureClass meets the edges that wait for just that: $met",
    async ({ outcome, failureClass, met }) => {
      const graph = await begun(
        ["a", "late", "crashed"],
        [edge("late", "a", "outcome:timed_out"), edge("crashed", "a", "outcome:crash")],
      );

      await graph.begin("a");
      await graph.end("a", outcome, outcome, failureClass);

      const ready = Object.entries(graph.states()).filter(([, state]) => state === "ready");
      expect(ready.map(([name]) => name)).toEqual(met);
    },
  );

  test("a waived edge waits for nothing: the job goes on past what failed, and past what runs", async () => {
    const graph = await begun(["a", "b", "c"], [edge("c", "a"), edge("c", "b")]);
    await graph.run("a", "failed");
    await graph.begin("b");

    await graph.waive("c", "a");
    expect(graph.job("c").state).toBe("blocked");

    await graph.waive("c", "b");
    expect(graph.job("c")).toMatchObject({ state: "ready", wanted: "revive" });
  });

  test.each([
    { setAside: "expired-good", state: "expired", next: "ready" },
    { setAside: "expired-bad", state: "expired", next: "unreachable" },
    { setAside: "expired-failed", state: "failed", next: "unreachable" },
    { setAside: "inactive", state: "inactive", next: "unreachable" },
    { setAside: "coalesced", state: "coalesced", next: "unreachable" },
  ] as const)(
    "a job set aside as $setAside is $state, and what needs it $next; wanted again, it reopens",
    async ({ setAside, state, next }) => {
      const graph = await begun(["a", "b"], [edge("b", "a")]);

      await graph.setAside("a", setAside);
      expect(graph.states()).toEqual({ a: state, b: next });

      await graph.want(["a"], "activate");
      expect(graph.states()).toEqual({ a: "ready", b: "blocked" });
    },
  );

  test("a join succeeds by itself, in the same step, and opens again with what it gathers", async () => {
    const graph = await begun(["a", "all", "b"], [edge("all", "a"), edge("b", "all")], ["all"]);

    await graph.run("a", "succeeded");
    expect(graph.states()).toEqual({ a: "succeeded", all: "succeeded", b: "ready" });

    await graph.want(["a"], "retrigger");
    expect(graph.states()).toEqual({ a: "ready", all: "blocked", b: "blocked" });
  });

  test("staleness passes through a join, which has nothing of its own", async () => {
    const graph = await begun(["a", "all", "b"], [edge("all", "a"), edge("b", "all")], ["all"]);
    await graph.run("a", "succeeded");
    await graph.run("b", "succeeded");

    await graph.want(["a"], "retrigger");
    await graph.run("a", "succeeded", "succeeded anew");

    expect(graph.stale()).toEqual(["b"]);
    expect(graph.job("all").runs).toBe(2);
  });

  test("a join does not join before what opens again further up has come down to it", async () => {
    // b ended unreachable, which met the join's edge; x's new run opens it again, three levels down.
    const edges = [edge("b", "x"), edge("all", "b", "end"), edge("all", "y", "end")];
    const graph = await begun(["x", "y", "b", "all"], edges, ["all"]);
    await graph.run("x", "failed");
    await graph.begin("y");

    // Both in one step: y's end reaches the join at once, x's new run by way of b.
    graph.jobs.set("x", { ...graph.job("x"), wanted: "retrigger" });
    const latestRun = { state: "finished", outcome: "succeeded", failureClass: null } as const;
    graph.jobs.set("y", { ...graph.job("y"), latestRun });
    await graph.advance(["y", "x"]);

    expect(graph.states()).toMatchObject({ b: "blocked", all: "blocked" });
    expect(graph.job("all").runs).toBe(0);
  });
});

test("the work is in proportion to the edges that are touched, not to the graph", async () => {
  const names = Array.from({ length: 1_000 }, (_, i) => `j${i}`);
  const graph = await begun(
    names,
    names.slice(1).map((name, i) => edge(name, names[i] ?? "")),
  );
  graph.edgesRead = 0;

  await graph.run("j0", "succeeded");

  expect(graph.edgesRead).toBe(1);
});
