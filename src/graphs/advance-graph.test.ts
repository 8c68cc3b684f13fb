import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type EdgeCondition, RunOutcome } from "#api/graph.ts";
import { isOver } from "#api/job-state.ts";
import { type AdvancingEdge, type AdvancingJob, advanceGraph } from "./advance-graph.ts";
import { edgeStatus, jobState } from "./job-progress.ts";

/** A graph in memory that keeps what `advanceGraph` says, and counts what it reads. */
class StoredGraph {
  readonly jobs = new Map<string, AdvancingJob>();
  edges: AdvancingEdge[] = [];
  edgesRead = 0;

  constructor(
    names: readonly string[],
    edges: readonly Omit<AdvancingEdge, "status">[],
    joins: readonly string[] = [],
  ) {
    this.edges = edges.map((edge) => ({ ...edge, status: "open" }));
    for (const name of names) {
      this.jobs.set(name, {
        name,
        kind: joins.includes(name) ? "join" : "command",
        wanted: "first",
        latestRun: undefined,
        openEdges: edges.filter((edge) => edge.job === name).length,
        failedEdges: 0,
        state: "blocked",
        reason: null,
      });
    }
  }

  async happen(name: string, change: Partial<AdvancingJob>): Promise<void> {
    this.jobs.set(name, { ...this.job(name), ...change });
    await this.advance([name]);
  }

  async advance(names: readonly string[]): Promise<void> {
    const advance = await advanceGraph(
      names.map((name) => this.job(name)),
      async (on) => {
        const edges = this.edges.filter((edge) => on.includes(edge.on));
        this.edgesRead += edges.length;
        return { edges, jobs: edges.map((edge) => this.job(edge.job)) };
      },
    );
    for (const { was: _, ...job } of advance.jobs) this.jobs.set(job.name, job);
    this.edges = this.edges.map(
      (edge) => advance.edges.find((e) => e.job === edge.job && e.on === edge.on) ?? edge,
    );
  }

  job(name: string): AdvancingJob {
    const job = this.jobs.get(name);
    if (job === undefined) throw new RangeError(name);
    return job;
  }

  states(): Record<string, string> {
    return Object.fromEntries([...this.jobs].map(([name, job]) => [name, job.state]));
  }

  /** The same from scratch, in the order of the names: edges go from later to earlier ones. */
  recomputed(): Record<string, string> {
    const states: Record<string, AdvancingJob["state"]> = {};
    for (const job of this.jobs.values()) {
      const statuses = this.edges
        .filter((edge) => edge.job === job.name)
        .map((edge) => edgeStatus(edge.condition, states[edge.on] ?? "blocked"));
      states[job.name] = jobState({
        ...job,
        openEdges: statuses.filter((status) => status === "open").length,
        failedEdges: statuses.filter((status) => status === "failed").length,
      });
    }
    return states;
  }
}

const finished = (outcome: RunOutcome) =>
  ({ wanted: null, latestRun: { state: "finished", outcome } }) as const;
const edge = (job: string, on: string, condition: EdgeCondition = "success") => ({
  job,
  on,
  condition,
});

async function begun(
  names: readonly string[],
  edges: readonly Omit<AdvancingEdge, "status">[],
  joins: readonly string[] = [],
) {
  const graph = new StoredGraph(names, edges, joins);
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

    await graph.happen("a", finished("succeeded"));

    expect(graph.states()).toEqual({ a: "succeeded", b: "ready" });
  });

  test("a failure makes all that hangs on it unreachable, and each names the job that began it", async () => {
    const graph = await begun(["a", "b", "c"], [edge("b", "a"), edge("c", "b")]);

    await graph.happen("a", finished("failed"));

    expect(graph.states()).toEqual({ a: "failed", b: "unreachable", c: "unreachable" });
    expect(graph.job("c").reason).toBe("skipped because a failed");
  });

  test("a failed job that runs anew and passes: what was skipped runs, what had run stays", async () => {
    const graph = await begun(["a", "b", "c"], [edge("b", "a"), edge("c", "a", "end")]);
    await graph.happen("a", finished("failed"));
    await graph.happen("c", finished("succeeded"));

    await graph.happen("a", { wanted: "retrigger" });
    expect(graph.states()).toEqual({ a: "ready", b: "blocked", c: "succeeded" });

    await graph.happen("a", finished("succeeded"));
    expect(graph.states()).toEqual({ a: "succeeded", b: "ready", c: "succeeded" });
    expect(graph.job("b").reason).toBeNull();
  });

  test("a and b that run anew together: b waits for the new a", async () => {
    const graph = await begun(["a", "b"], [edge("b", "a")]);
    await graph.happen("a", finished("succeeded"));
    await graph.happen("b", finished("failed"));

    await graph.happen("a", { wanted: "retrigger" });
    await graph.happen("b", { wanted: "retrigger" });

    expect(graph.states()).toEqual({ a: "ready", b: "blocked" });
  });

  test("what waits for a failure is not needed when none comes", async () => {
    const graph = await begun(["a", "b"], [edge("b", "a", "failure")]);

    await graph.happen("a", finished("succeeded"));

    expect(graph.job("b")).toMatchObject({
      state: "unreachable",
      reason: "not needed: a succeeded",
    });
  });

  test("what waits for an end also learns of an end that was no run", async () => {
    const graph = await begun(["a", "b", "c"], [edge("b", "a"), edge("c", "b", "end")]);

    await graph.happen("a", finished("failed"));

    expect(graph.job("c").state).toBe("ready");
  });

  test("a join succeeds by itself, in the same step, and opens again with what it gathers", async () => {
    const graph = await begun(["a", "all", "b"], [edge("all", "a"), edge("b", "all")], ["all"]);

    await graph.happen("a", finished("succeeded"));
    expect(graph.states()).toEqual({ a: "succeeded", all: "succeeded", b: "ready" });

    await graph.happen("a", { wanted: "retrigger" });
    expect(graph.states()).toEqual({ a: "ready", all: "blocked", b: "blocked" });
  });
});

test("the work is in proportion to the edges that are touched, not to the graph", async () => {
  const names = Array.from({ length: 1_000 }, (_, i) => `j${i}`);
  const graph = await begun(
    names,
    names.slice(1).map((name, i) => edge(name, names[i] ?? "")),
  );
  graph.edgesRead = 0;

  await graph.happen("j0", finished("succeeded"));

  expect(graph.edgesRead).toBe(1);
});

const anyGraph = fc.integer({ min: 2, max: 12 }).chain((size) =>
  fc.record({
    size: fc.constant(size),
    joins: fc.uniqueArray(fc.integer({ min: 0, max: size - 1 }), { maxLength: 3 }),
    edges: fc.uniqueArray(
      fc
        .tuple(
          fc.integer({ min: 0, max: size - 1 }),
          fc.integer({ min: 0, max: size - 1 }),
          fc.constantFrom<EdgeCondition>("success", "failure", "end"),
        )
        .filter(([a, b]) => a !== b)
        .map(([a, b, condition]) => ({ job: Math.max(a, b), on: Math.min(a, b), condition })),
      { maxLength: 30, selector: ({ job, on }) => `${job} ${on}` },
    ),
    events: fc.array(
      fc.tuple(
        fc.integer({ min: 0, max: size - 1 }),
        fc.constantFrom("go", "retrigger", "cancel"),
        fc.constantFrom(...RunOutcome.options),
      ),
      { maxLength: 40 },
    ),
  }),
);

test("whatever happens in whatever graph: advanced step by step, it is what it would be from scratch", async () => {
  await fc.assert(
    fc.asyncProperty(anyGraph, async ({ size, joins, edges, events }) => {
      const names = Array.from({ length: size }, (_, i) => `j${i}`);
      const graph = await begun(
        names,
        edges.map(({ job, on, condition }) => edge(`j${job}`, `j${on}`, condition)),
        joins.map((i) => `j${i}`),
      );
      for (const [target, event, outcome] of events) {
        const job = graph.job(`j${target}`);
        if (event === "go" && job.state === "ready")
          await graph.happen(job.name, { wanted: null, latestRun: { state: "queued" } });
        else if (event === "go" && job.state === "queued")
          await graph.happen(job.name, { latestRun: { state: "running" } });
        else if (event === "go" && job.state === "running")
          await graph.happen(job.name, finished(outcome));
        else if (event === "retrigger" && job.kind === "command" && isOver(job.state))
          await graph.happen(job.name, { wanted: "retrigger" });
        else if (event === "cancel" && job.wanted !== null)
          await graph.happen(job.name, { wanted: null });
        expect(graph.states()).toEqual(graph.recomputed());
      }
    }),
    { numRuns: 500 },
  );
});
