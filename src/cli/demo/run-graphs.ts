import type { GraphSummary } from "#api/graph.ts";
import type { DemoFarm } from "./demo-farm.ts";

/** Runs the graph of a commit to its end. */
export async function runGraphOf(
  { api, repository, stopping }: DemoFarm,
  commit: string,
): Promise<GraphSummary> {
  const { graph } = await api.submit(requestFor(repository.path, commit));
  let latest = graph;
  if (latest.state !== "running") return latest;
  for await (const delta of api.followGraph(graph.id, graph.version, stopping))
    latest = delta.graph;
  return latest;
}

/** Submits the graph with the breakpoint; it goes on until somebody releases that. */
export async function submitRelease(
  { api, repository }: DemoFarm,
  commit: string,
): Promise<GraphSummary> {
  const { graph } = await api.submit({
    ...requestFor(repository.path, commit),
    graph: "release",
  });
  return graph;
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
