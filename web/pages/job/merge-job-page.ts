import type { GraphDelta, GraphSummary } from "#api/graph.ts";
import type { JobPage } from "#api/job-page.ts";
import type { JobState } from "#api/job-state.ts";

/**
 * Returns what the page of a job shows after a message of its graph's stream: the states of the graph and of the job's
 * neighbours. Changes of the job itself must be requested, when `isOld` is true.
 */
export function mergeJobPage(page: JobPage, { graph, jobs }: GraphDelta): JobPage {
  if (graph.version <= page.detail.graph.version) return page;
  return withStates(page, graph, new Map(jobs.map(({ name, state }) => [name, state])));
}

function withStates(
  page: JobPage,
  graph: GraphSummary,
  states: ReadonlyMap<string, JobState>,
): JobPage {
  return {
    ...page,
    detail: { ...page.detail, graph },
    neighbours: page.neighbours.map(({ name, state }) => ({
      name,
      state: states.get(name) ?? state,
    })),
  };
}

/**
 * Returns an answer, with the states of the known page where the stream was ahead of it: the stream does not repeat
 * them.
 */
export function keepNewer(known: JobPage, fresh: JobPage): JobPage {
  const { graph } = known.detail;
  if (graph.version <= fresh.detail.graph.version) return fresh;
  const states = new Map(known.neighbours.map(({ name, state }) => [name, state]));
  return withStates(fresh, graph, states);
}

/** Whether a message of the stream names a newer version of the job: then the page must be requested again. */
export function isOld({ detail: { job } }: JobPage, { jobs }: GraphDelta): boolean {
  return jobs.some(({ name, version }) => name === job.name && version > job.version);
}
