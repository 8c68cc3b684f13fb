import { Edge, type Graph, type JobSummary } from "#api/graph.ts";
import { GraphPriority, SetGraphPriority } from "#api/graph-priority.ts";
import {
  Clone,
  ClonedGraph,
  Customise,
  CustomisedJob,
  PlannedChange,
  type PlannedJob,
  Release,
  ReleasedBreakpoint,
  Retrigger,
  Waive,
} from "#api/rerun.ts";
import { matches } from "#api/selection/matches.ts";
import { parseSelection } from "#api/selection/parse-selection.ts";
import { type FakeFarm, summaryOf } from "./fake-farm.ts";
import { FakeRefusal } from "./fake-refusal.ts";
import { madeUpJob } from "./made-up-job.ts";

/** Changes a graph in memory as a user would. Requests and answers are checked against the API's own schemas. */
export function changeFakeGraph(farm: FakeFarm, graph: Graph, verb: string, body: unknown) {
  switch (verb) {
    case "retrigger":
    case "activate":
    case "deactivate":
      return retrigger(farm, graph, Retrigger.parse(body));
    case "waive":
      return waive(farm, graph, Waive.parse(body));
    case "release":
      return release(farm, graph, Release.parse(body));
    case "customise":
      return customise(farm, graph, Customise.parse(body));
    case "clone":
      return clone(farm, graph, Clone.parse(body));
    case "priority":
      return prioritise(farm, graph, SetGraphPriority.parse(body));
    default:
      return undefined;
  }
}

/** A change names the graph's version; after any other change its effect would differ. */
function planned(
  farm: FakeFarm,
  graph: Graph,
  asked: { readonly dryRun: boolean; readonly token?: string | undefined },
  jobs: readonly PlannedJob[],
  apply: () => void,
): PlannedChange {
  const token = `${graph.id} ${graph.version}`;
  if (!asked.dryRun) {
    if (asked.token !== undefined && asked.token !== token) {
      throw new FakeRefusal(409, "failed_precondition", "the graph has changed since; look again");
    }
    apply();
    farm.changed();
  }
  const totals = Object.fromEntries(
    [...new Set(jobs.map(({ does }) => does))].map((action) => [
      action,
      jobs.filter(({ does }) => does === action).length,
    ]),
  );
  return PlannedChange.parse({
    applied: !asked.dryRun,
    token,
    jobs,
    totals,
    expected: {
      runs: jobs.length,
      endToEndMs: 90_000,
      workerMs: jobs.length * 60_000,
      cost: null,
      unknownJobs: 0,
      criticalPath: [],
    },
  });
}

function plannedJob(graph: Graph, job: JobSummary, does: PlannedJob["does"]): PlannedJob {
  return {
    graph: graph.id,
    job: job.name,
    state: job.state,
    does,
    cause: does === "runs" ? "retrigger" : "revive",
    why: job.reason,
    waitsFor: [],
    times: 1,
    expectedMs: 60_000,
  };
}

const anew = { state: "queued", startedAt: null, finishedAt: null, reason: null } as const;

function retrigger(farm: FakeFarm, graph: Graph, asked: ReturnType<typeof Retrigger.parse>) {
  const selection = asked.selection === undefined ? undefined : parseSelection(asked.selection);
  const meant = graph.jobList.filter((job) =>
    selection === undefined ? asked.jobs?.includes(job.name) : matches(selection, job),
  );
  const revived =
    asked.mode === "revive" ? graph.jobList.filter((job) => job.state === "unreachable") : [];
  const isUnderWay = ({ state }: JobSummary) => state === "queued" || state === "running";
  const [underWay, over] = [meant.filter(isUnderWay), meant.filter((job) => !isUnderWay(job))];
  const jobs = [
    ...over.map((job) => plannedJob(graph, job, "runs")),
    ...underWay.map((job) => plannedJob(graph, job, asked.another ? "runs" : "is left alone")),
    ...revived.map((job) => plannedJob(graph, job, "is revived")),
  ];
  return planned(farm, graph, asked, jobs, () => {
    farm.retriggers.push(asked);
    farm.change(graph.id, {
      ...Object.fromEntries(revived.map(({ name }) => [name, { ...anew, state: "blocked" }])),
      ...Object.fromEntries(over.map((job) => [job.name, { ...anew, runs: job.runs + 1 }])),
    });
  });
}

function waive(farm: FakeFarm, graph: Graph, asked: ReturnType<typeof Waive.parse>) {
  const jobs = graph.jobList
    .filter(({ name }) => name === asked.job)
    .map((job) => plannedJob(graph, job, "is revived"));
  return planned(farm, graph, asked, jobs, () => {
    const waived = { by: "anyone", reason: asked.reason, at: graph.createdAt };
    const edges = graph.edges.map((edge) =>
      edge.job === asked.job && edge.on === asked.on
        ? Edge.parse({ ...edge, status: "met", waived })
        : edge,
    );
    farm.graphs.set(graph.id, { ...graph, edges });
    farm.change(graph.id, { [asked.job]: anew });
  });
}

function release(farm: FakeFarm, graph: Graph, { job, verdict }: ReturnType<typeof Release.parse>) {
  const state = verdict === "go" ? "succeeded" : "failed";
  farm.change(graph.id, { [job]: { state, finishedAt: new Date().toISOString() } });
  return ReleasedBreakpoint.parse({ applied: true, graph: graph.id, job, verdict, state });
}

/** The branch `release` is protected. */
function customise(farm: FakeFarm, graph: Graph, asked: ReturnType<typeof Customise.parse>) {
  if (graph.branch === "release") {
    throw new FakeRefusal(
      403,
      "permission_denied",
      "release is protected: it runs its definitions as they are signed",
    );
  }
  const job = graph.jobList.find(({ name }) => name === asked.job);
  if (job === undefined) throw new FakeRefusal(404, "not_found", `there is no job ${asked.job}`);
  const { definition, origin } = madeUpJob(graph, job);
  const template = definition as Record<string, unknown>;
  if (asked.after !== origin.revision) {
    throw new FakeRefusal(409, "aborted", `Ada has customised ${job.name}, revision 1`);
  }
  const changes = Object.entries(asked.patch ?? {}).map(([path, is]) => ({
    path,
    ...(template[path] === undefined ? {} : { was: template[path] }),
    ...(is === null ? {} : { is }),
  }));
  if (!asked.dryRun) farm.change(graph.id, { [job.name]: { customised: changes.length > 0 } });
  return CustomisedJob.parse({
    applied: !asked.dryRun,
    graph: graph.id,
    job: asked.job,
    patch: asked.patch,
    revision: 1,
    changes,
    definition: { ...template, ...asked.patch },
    rerun: asked.retrigger
      ? retrigger(farm, graph, Retrigger.parse({ jobs: [asked.job], dryRun: asked.dryRun }))
      : null,
  });
}

function clone(farm: FakeFarm, graph: Graph, asked: ReturnType<typeof Clone.parse>) {
  const id = asked.id ?? `${graph.id}-clone`;
  const cloned: Graph = { ...graph, id, parent: { id: graph.id, kind: "clone", job: null } };
  if (!asked.dryRun) farm.add(cloned);
  return ClonedGraph.parse({
    applied: !asked.dryRun,
    graph: asked.dryRun ? null : summaryOf(cloned),
    jobs: graph.jobList.map(({ name }) => name),
    differences: graph.jobList
      .filter(({ customised }) => customised)
      .map(({ name }) => ({
        job: name,
        asItRan: "a",
        uncustomised: "b",
        today: "b",
        customisations: [{ path: "timeout", was: "10m", is: "20m" }],
        changesSince: [],
      })),
    todayProblem: null,
  });
}

/** No branch allows a priority above 10. */
function prioritise(farm: FakeFarm, graph: Graph, asked: SetGraphPriority): GraphPriority {
  if (asked.job !== undefined) {
    const { job, priority = 0 } = asked;
    farm.jobPriorities.set(`${graph.id} ${job}`, priority);
    return GraphPriority.parse({
      id: graph.id,
      job,
      priority,
      top: graph.top,
      notice: null,
      moved: 1,
    });
  }
  const wanted = asked.priority ?? graph.priority;
  const priority = Math.min(10, wanted);
  const top = asked.top ?? graph.top;
  farm.add({ ...graph, priority, top, version: graph.version + 1 });
  return GraphPriority.parse({
    id: graph.id,
    job: null,
    priority,
    top,
    notice: priority < wanted ? `the branch ${graph.branch} has a cap of 10` : null,
    moved: 3,
  });
}
