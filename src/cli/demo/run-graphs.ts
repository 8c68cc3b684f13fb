import { graphEndpoints } from "#api/endpoints/graph-endpoints.ts";
import type { GraphSummary, JobSummary } from "#api/graph.ts";
import type { DemoFarm } from "./demo-farm.ts";

/** Runs the graph of a commit to its end. */
export async function runGraphOf(
  { api, repository, stopping }: DemoFarm,
  commit: string,
): Promise<GraphSummary> {
  const { graph } = await api.call(graphEndpoints.submitGraph, {
    body: requestFor(repository.path, commit),
  });
  let latest = graph;
  if (latest.state !== "running") return latest;
  for await (const delta of api.followGraph(graph.id, graph.version, stopping))
    latest = delta.graph;
  return latest;
}

/** Runs the graph with the breakpoint until it waits there for a person; or until it ends without reaching it. */
export async function runToBreakpoint(
  { api, repository, stopping }: DemoFarm,
  commit: string,
): Promise<GraphSummary> {
  const { graph } = await api.call(graphEndpoints.submitGraph, {
    body: {
      ...requestFor(repository.path, commit),
      graph: "release",
    },
  });
  const { jobList, edges: _, ...submitted } = await api.graph(graph.id);
  if (jobList.some(isWaiting)) return submitted;
  let latest: GraphSummary = submitted;
  for await (const delta of api.followGraph(graph.id, submitted.version, stopping)) {
    latest = delta.graph;
    if (delta.jobs.some(isWaiting)) break;
  }
  return latest;
}

/** Among the demo's jobs, only the breakpoint waits for something other than jobs. */
function isWaiting({ state }: JobSummary): boolean {
  return state === "waiting";
}

function requestFor(repository: string, commit: string) {
  return {
    repository,
    rev: commit,
    branch: "main",
    parameters: {},
    switches: {},
    skipCache: false,
  };
}
