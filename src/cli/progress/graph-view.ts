import type { Edge, Graph, GraphDelta, GraphSummary, JobSummary } from "#api/graph.ts";

/** The known state of a graph. */
export interface GraphView {
  readonly graph: GraphSummary;
  readonly jobs: ReadonlyMap<string, JobSummary>;
  readonly edges: readonly Edge[];
}

export function viewOf({ jobList, edges, ...graph }: Graph): GraphView {
  return { graph, jobs: new Map(jobList.map((job) => [job.name, job])), edges };
}

/** Applies changes. Deltas contain states, not steps: a repeated one changes nothing. */
export function withDelta(view: GraphView, delta: GraphDelta): GraphView {
  const jobs = new Map(view.jobs);
  for (const job of delta.jobs) {
    const known = jobs.get(job.name);
    if (known === undefined || known.version <= job.version) jobs.set(job.name, job);
  }
  const graph = delta.graph.version >= view.graph.version ? delta.graph : view.graph;
  return { ...view, graph, jobs };
}

/** Returns the jobs whose state has changed. */
export function transitions(before: GraphView | undefined, after: GraphView): JobSummary[] {
  return [...after.jobs.values()].filter((job) => {
    const known = before?.jobs.get(job.name);
    return known?.state !== job.state || known.runs !== job.runs;
  });
}
