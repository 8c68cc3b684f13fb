import type { Graph, GraphDelta, GraphSummary, JobSummary } from "#api/graph.ts";

/**
 * Returns a graph with a delta applied.
 *
 * For each job, the newer version is used, so that a repeated or late delta changes nothing. Without changes, the same
 * graph object is returned, so that nothing is drawn again.
 */
export function mergeGraphDelta(graph: Graph, delta: GraphDelta): Graph {
  const jobList = mergeJobs(graph.jobList, delta.jobs);
  const summary = delta.graph.version > graph.version ? delta.graph : undefined;
  if (jobList === graph.jobList && summary === undefined) return graph;
  return { ...graph, ...summary, jobList, edges: graph.edges };
}

function mergeJobs(known: JobSummary[], heard: readonly JobSummary[]): JobSummary[] {
  const byName = new Map(heard.map((job) => [job.name, job]));
  let changed = false;
  const merged = known.map((job) => {
    const news = byName.get(job.name);
    byName.delete(job.name);
    if (news === undefined || news.version <= job.version) return job;
    changed = true;
    return news;
  });
  return changed || byName.size > 0 ? [...merged, ...byName.values()] : known;
}

/** Returns the list of graphs after a change of one of them: newest first, each with its newest version. */
export function mergeGraphSummary(list: GraphSummary[], heard: GraphSummary): GraphSummary[] {
  const at = list.findIndex((graph) => graph.id === heard.id);
  const known = list[at];
  if (known === undefined) {
    return [heard, ...list].toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
  }
  return heard.version > known.version ? list.with(at, heard) : list;
}
