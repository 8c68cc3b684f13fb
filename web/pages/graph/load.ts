import {
  type QueryClient,
  queryOptions,
  replaceEqualDeep,
  useQueryClient,
} from "@tanstack/react-query";
import { graphEndpoints } from "#api/endpoints/graph-endpoints.ts";
import { type Graph, GraphDelta, GraphSummary } from "#api/graph.ts";
import { apiBase, call } from "../../farm/ask.ts";
import { mergeGraphDelta } from "../../farm/merge-graph-delta.ts";
import { useEventStream } from "../../farm/use-event-stream.ts";

export const graphQuery = (id: string) =>
  queryOptions({
    queryKey: ["graph", id],
    async queryFn({ client, signal }) {
      const { graph, failures } = await call(
        graphEndpoints.graphPage,
        { params: { graph: id } },
        signal,
      );
      if (failures !== null) client.setQueryData(failuresQuery(graph).queryKey, failures);
      return graph;
    },
    structuralSharing: (known, fresh) =>
      isGraph(known) && isGraph(fresh) ? newerOf(known, fresh) : fresh,
  });

/**
 * The failures of a graph. They change when a job fails or is run again: then the version of the graph changes. Those of
 * the version that the page was loaded with come with the graph.
 */
export const failuresQuery = ({ id, version }: Pick<Graph, "id" | "version">) =>
  queryOptions({
    queryKey: ["graph", id, "failures", version],
    queryFn: ({ signal }) => call(graphEndpoints.graphFailures, { params: { graph: id } }, signal),
    placeholderData: (before) => before,
  });

/** Requests what is shown of a graph and of its jobs again, after a change. */
export async function readGraphAgain(client: QueryClient, id: string): Promise<void> {
  await Promise.all([
    client.invalidateQueries(graphQuery(id)),
    client.invalidateQueries({ queryKey: ["job", id] }),
  ]);
}

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
