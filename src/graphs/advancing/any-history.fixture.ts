import fc from "fast-check";
import { type EdgeCondition, type JobKind, RunOutcome } from "#api/graph.ts";
import { isOver } from "#api/job-state.ts";
import { setAsides } from "./job-progress.ts";
import { StoredGraph } from "./stored-graph.fixture.ts";

/** Something that happens to one of the jobs to which it can happen. */
type Event = readonly [
  target: number,
  kind: (typeof kinds)[number]["value"],
  outcome: RunOutcome,
  other: number,
];

/** Weighted so that most graphs come far: a graph that was cancelled early teaches nothing. */
const kinds = [
  { weight: 20, value: "go" },
  { weight: 2, value: "lose the worker" },
  { weight: 3, value: "retrigger" },
  { weight: 3, value: "retrigger downstream" },
  { weight: 2, value: "run at once" },
  { weight: 1, value: "set aside" },
  { weight: 1, value: "waive" },
  { weight: 1, value: "cancel" },
] as const;

/** Graphs of up to twelve jobs, and what may happen to them. */
export const anyHistory = fc.integer({ min: 2, max: 12 }).chain((size) => {
  const index = fc.integer({ min: 0, max: size - 1 });
  const condition = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom<EdgeCondition>("success", "end") },
    { weight: 1, arbitrary: fc.constantFrom<EdgeCondition>("failure", "outcome:timed_out") },
    { weight: 1, arbitrary: fc.constant<EdgeCondition>("outcome:crash") },
  );
  return fc.record({
    jobs: fc.array(fc.constantFrom<JobKind>("command", "command", "join", "breakpoint"), {
      minLength: size,
      maxLength: size,
    }),
    edges: fc.uniqueArray(
      fc
        .tuple(index, index, condition)
        .filter(([a, b]) => a !== b)
        .map(([a, b, condition]) => ({ job: Math.max(a, b), on: Math.min(a, b), condition })),
      { maxLength: 30, selector: ({ job, on }) => `${job} ${on}` },
    ),
    events: fc.array<Event>(
      fc.tuple(
        fc.nat(100),
        fc.oneof(...kinds.map(({ weight, value }) => ({ weight, arbitrary: fc.constant(value) }))),
        fc.oneof(
          { weight: 3, arbitrary: fc.constant<RunOutcome>("succeeded") },
          { weight: 1, arbitrary: fc.constantFrom(...RunOutcome.options) },
        ),
        fc.nat(3),
      ),
      { maxLength: 60 },
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

/** A graph that events can change, in memory or in the database. */
export type LivingGraph = Pick<
  StoredGraph,
  | "jobs"
  | "edges"
  | "job"
  | "want"
  | "begin"
  | "end"
  | "runAtOnce"
  | "setAside"
  | "cancel"
  | "waive"
>;

export async function happen(
  graph: LivingGraph,
  [target, kind, outcome, other]: Event,
): Promise<void> {
  const among = [...graph.jobs.keys()].filter((name) => canHappen(graph, name, kind));
  const name = among[target % Math.max(1, among.length)];
  if (name === undefined) return;
  const job = graph.job(name);
  switch (kind) {
    case "go": {
      if (job.state === "ready")
        return graph.begin(name, job.kind === "breakpoint" ? "waiting" : "queued");
      const failureClass = outcome === "failed" && other === 0 ? "crash" : null;
      return graph.end(name, outcome, `${outcome} ${other % 2}`, failureClass);
    }
    case "lose the worker":
      // The queue hands it out again, or its run ends so and is tried anew by itself.
      await graph.end(name, "worker_lost");
      return graph.want([name], "auto-retry");
    case "retrigger":
      return graph.want([name], "retrigger");
    case "retrigger downstream":
      return graph.want(
        withWhatHangsOn(graph, name).filter((each) => canRunAnew(graph, each)),
        "downstream",
      );
    case "run at once":
      // A result that was known: from one end to the next, in one step.
      return graph.runAtOnce(name, outcome, `${outcome} ${other % 2}`);
    case "set aside":
      return graph.setAside(name, setAsides[other] ?? "expired-bad");
    case "waive": {
      const into = notWaived(graph, name);
      return graph.waive(name, into[other % into.length]?.on ?? "");
    }
    case "cancel":
      return graph.cancel([name]);
  }
}

function canHappen(graph: LivingGraph, name: string, kind: Event[1]): boolean {
  const job = graph.job(name);
  switch (kind) {
    case "go":
      return job.state === "ready" || isUnderWay(graph, name);
    case "lose the worker":
      return job.state === "queued" || job.state === "running";
    case "retrigger":
    case "retrigger downstream":
    case "run at once":
      return canRunAnew(graph, name);
    case "set aside":
      return job.wanted !== null && job.kind !== "join" && !isUnderWay(graph, name);
    case "waive":
      return notWaived(graph, name).length > 0;
    case "cancel":
      return ["blocked", "unreachable", "ready"].includes(job.state);
  }
}

function notWaived(graph: LivingGraph, name: string) {
  return [...graph.edges.values()].filter((edge) => edge.job === name && !edge.waived);
}

function isUnderWay(graph: LivingGraph, name: string): boolean {
  const { latestRun } = graph.job(name);
  return latestRun !== undefined && latestRun.state !== "finished";
}

function canRunAnew(graph: LivingGraph, name: string): boolean {
  const job = graph.job(name);
  return job.kind !== "join" && isOver(job.state) && job.wanted === null;
}

function withWhatHangsOn(graph: LivingGraph, name: string): string[] {
  const found = new Set([name]);
  // The loop also visits elements that are added during iteration.
  for (const on of found)
    for (const edge of graph.edges.values()) if (edge.on === on) found.add(edge.job);
  return [...found];
}
