import fc from "fast-check";
import { type EdgeCondition, type JobKind, type RunCause, RunOutcome } from "#api/graph.ts";
import { isOver } from "#api/job-state.ts";
import { setAsides } from "./job-progress.ts";
import { StoredGraph } from "./stored-graph.fixture.ts";

/** Something that happens to a graph, aimed at a job; where it cannot happen, it does not. */
type Event = readonly [
  target: number,
  kind: (typeof kinds)[number],
  outcome: RunOutcome,
  other: number,
];

const kinds = [
  "go",
  "go",
  "go",
  "lose the worker",
  "retrigger",
  "retrigger downstream",
  "set aside",
  "waive",
  "cancel",
  "cancel all",
] as const;

const causes: Readonly<Record<string, RunCause>> = {
  retrigger: "retrigger",
  "retrigger downstream": "downstream",
};

/** Graphs of up to twelve jobs, and what may happen to them. */
export const anyHistory = fc.integer({ min: 2, max: 12 }).chain((size) => {
  const index = fc.integer({ min: 0, max: size - 1 });
  const conditions = ["success", "failure", "end", "outcome:timed_out", "outcome:crash"] as const;
  return fc.record({
    jobs: fc.array(
      fc.constantFrom<JobKind>("command", "command", "command", "join", "breakpoint"),
      {
        minLength: size,
        maxLength: size,
      },
    ),
    edges: fc.uniqueArray(
      fc
        .tuple(index, index, fc.constantFrom<EdgeCondition>(...conditions))
        .filter(([a, b]) => a !== b)
        .map(([a, b, condition]) => ({ job: Math.max(a, b), on: Math.min(a, b), condition })),
      { maxLength: 30, selector: ({ job, on }) => `${job} ${on}` },
    ),
    events: fc.array<Event>(
      fc.tuple(
        index,
        fc.constantFrom(...kinds),
        fc.constantFrom("succeeded", "succeeded", ...RunOutcome.options),
        fc.nat(3),
      ),
      { maxLength: 40 },
    ),
  });
});
export type History = typeof anyHistory extends fc.Arbitrary<infer H> ? H : never;

export async function begin({ jobs, edges }: History): Promise<StoredGraph> {
  const graph = new StoredGraph({
    jobs: jobs.map((kind, i) => ({ name: `j${i}`, kind })),
    edges: edges.map(({ job, on, condition }) => ({ job: `j${job}`, on: `j${on}`, condition })),
  });
  await graph.advance([...graph.jobs.keys()]);
  return graph;
}

export async function happen(
  graph: StoredGraph,
  [target, kind, outcome, other]: Event,
): Promise<void> {
  const name = `j${target}`;
  const job = graph.job(name);
  switch (kind) {
    case "go":
      if (job.state === "ready")
        return graph.begin(name, job.kind === "breakpoint" ? "waiting" : "queued");
      if (job.latestRun !== undefined && job.latestRun.state !== "finished") {
        const failureClass = outcome === "failed" && other === 0 ? "crash" : null;
        return graph.end(name, outcome, `${outcome} ${other % 2}`, failureClass);
      }
      return;
    case "lose the worker":
      // The queue hands it out again, or its run ends so and is tried anew by itself.
      if (job.state === "queued" || job.state === "running") {
        await graph.end(name, "worker_lost");
        return graph.want([name], "auto-retry");
      }
      return;
    case "retrigger":
    case "retrigger downstream": {
      const cause = causes[kind] ?? "retrigger";
      const names = kind === "retrigger" ? [name] : withWhatHangsOn(graph, name);
      const over = names.filter((each) => canRunAnew(graph, each));
      return over.length === 0 ? undefined : graph.want(over, cause);
    }
    case "set aside":
      if (job.wanted !== null && job.kind !== "join" && !isUnderWay(graph, name))
        return graph.setAside(name, setAsides[other] ?? "expired-bad");
      return;
    case "waive": {
      const into = [...graph.edges.values()].filter((edge) => edge.job === name && !edge.waived);
      const edge = into[other % Math.max(1, into.length)];
      return edge === undefined ? undefined : graph.waive(name, edge.on);
    }
    case "cancel":
    case "cancel all": {
      const names = kind === "cancel" ? [name] : [...graph.jobs.keys()];
      const waiting = names.filter((each) =>
        ["blocked", "unreachable", "ready"].includes(graph.job(each).state),
      );
      return waiting.length === 0 ? undefined : graph.cancel(waiting);
    }
  }
}

function isUnderWay(graph: StoredGraph, name: string): boolean {
  const { latestRun } = graph.job(name);
  return latestRun !== undefined && latestRun.state !== "finished";
}

function canRunAnew(graph: StoredGraph, name: string): boolean {
  const job = graph.job(name);
  return job.kind !== "join" && isOver(job.state) && job.wanted === null;
}

function withWhatHangsOn(graph: StoredGraph, name: string): string[] {
  const found = new Set([name]);
  // A set grows while it is walked: what was added is followed, too.
  for (const on of found)
    for (const edge of graph.edges.values()) if (edge.on === on) found.add(edge.job);
  return [...found];
}
