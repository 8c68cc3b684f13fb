import { queryOptions, replaceEqualDeep, useQueryClient } from "@tanstack/react-query";
import { graphEndpoints } from "#api/endpoints/graph-endpoints.ts";
import { type Graph, GraphDelta, GraphSummary } from "#api/graph.ts";
import { apiBase, call } from "../../farm/ask.ts";
import { mergeGraphDelta } from "../../farm/merge-graph-delta.ts";
import { useEventStream } from "../../farm/use-event-stream.ts";

export const graphQuery = (id: string) =>
  queryOptions({
    queryKey: ["graph", id],
    queryFn: ({ signal }) => call(graphEndpoints.graph, { params: { graph: id } }, signal),
    structuralSharing: (known, fresh) =>
      isGraph(known) && isGraph(fresh) ? newerOf(known, fresh) : fresh,
  });

/**
 * A stream may be newer than a slow answer. With an equal version, the known graph is kept so that nothing is drawn
 * again, except for its edges, which deltas do not contain.
 */
function newerOf(known: Graph, fresh: Graph): Graph {
  if (known.version !== fresh.version) return known.version > fresh.version ? known : fresh;
  const edges = replaceEqualDeep(known.edges, fresh.edges);
  return edges === known.edges ? known : { ...known, edges };
}

const isGraph = (value: unknown): value is Graph =>
  typeof value === "object" && value !== null && "version" in value;

/**
 * Keeps a graph in the cache up to date while the calling page is shown.
 *
 * Listening starts after the graph is loaded, because a delta without a graph would be lost. An ended graph sends
 * nothing; when a job of it runs again, the repository's stream reports this, and the graph is requested again.
 */
export function useLiveGraph(graph: Graph | undefined): void {
  const client = useQueryClient();
  const { id = "", repository = "", state } = graph ?? {};
  const query = graphQuery(id);
  const known = () => client.getQueryData(query.queryKey);

  useEventStream(state === "running" ? `graph ${id}` : undefined, {
    url: () => `${apiBase}/graphs/${encodeURIComponent(id)}/events?since=${known()?.version ?? 0}`,
    isOver: () => known()?.state !== "running",
    onEvent: (data) => {
      const before = known();
      if (before === undefined) return;
      const after = mergeGraphDelta(before, GraphDelta.parse(JSON.parse(data)));
      client.setQueryData(query.queryKey, after);
      // Added jobs have edges, which deltas do not contain.
      if (after.jobList.length > before.jobList.length) void client.invalidateQueries(query);
    },
  });

  const isOver = state !== undefined && state !== "running";
  useEventStream(isOver ? `events ${repository}` : undefined, {
    url: () => `${apiBase}/events?repository=${encodeURIComponent(repository)}`,
    onEvent: (data) => {
      const heard = GraphSummary.parse(JSON.parse(data));
      const news = heard.id === id && heard.version > (known()?.version ?? 0);
      if (news) void client.invalidateQueries(query);
    },
    onReconnected: () => void client.invalidateQueries(query),
  });
}
