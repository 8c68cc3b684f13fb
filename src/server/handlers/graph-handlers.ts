import { placesOf } from "#access/places-of.ts";
import type { Principal } from "#access/principal.ts";
import { mayDo } from "#access/require-grant.ts";
import type { graphEndpoints } from "#api/endpoints/graph-endpoints.ts";
import type { GraphSummary } from "#api/graph.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { cancelAndConfirm } from "#graphs/cancel-and-confirm.ts";
import { commitGrid } from "#graphs/commit-grid.store.ts";
import { GraphId } from "#graphs/graph-id.ts";
import { graphChangesSince, wholeGraph } from "#graphs/graph-page.store.ts";
import { graphSummary, listGraphs, listRepositories } from "#graphs/graph-summary.store.ts";
import { submitGraph } from "#graphs/submit-graph.ts";
import { graphFailures } from "../graph-failures.ts";
import { gridOfPath } from "../grid-of-path.ts";
import { eventStream, resumeFrom } from "../http/event-stream.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { found } from "./found.ts";
import { graphIdOf } from "./graph-of-call.ts";
import type { HandlerServices } from "./handler-services.ts";

/** The number of graphs that a list shows at first; its stream reports changes of these. */
const graphsInStream = 50;

export function graphHandlers(services: HandlerServices): HandlersFor<typeof graphEndpoints> {
  const { db, queue, feeds, url } = services;
  const failuresFor = async (reads: Db, caller: Principal, graph: GraphSummary, job?: string) => {
    const id = GraphId.parse(graph.id);
    const mayReadLogs = mayDo(caller, "read-logs", graph);
    const from = { ...services, db: reads };
    return found(await graphFailures(from, id, mayReadLogs, job), `graph ${id}`);
  };

  return {
    repositories: ({ caller, reads }) => listRepositories(reads, placesOf(caller, ["read"])),
    graphs({ query: { repository, commit, limit, before }, caller, reads }) {
      const last = before === undefined ? undefined : graphIdFrom(before);
      const places = placesOf(caller, ["read"]);
      return listGraphs(reads, { repository, commit, limit, before: last, places });
    },
    commitGrid({ query: { before, ...query }, caller, reads }) {
      const last = before === undefined ? undefined : graphIdFrom(before);
      return reads.transaction((tx) =>
        commitGrid(tx, { ...query, before: last, places: placesOf(caller, ["read"]) }),
      );
    },
    commitGridOfPath({ query: { before, path, ...query }, caller }) {
      const last = before === undefined ? undefined : graphIdFrom(before);
      return gridOfPath(services, caller, path, { ...query, before: last });
    },
    async submitGraph({ body, caller, context }) {
      const origin = { traceparent: context.req.header("traceparent") };
      const { isNew, ...submitted } = await submitGraph(services, body, caller, origin);
      const { id } = submitted.graph;
      return { isNew, answer: { id, url: `${url}/graphs/${id}`, ...submitted } };
    },
    async graph({ params }) {
      const id = graphIdOf(params);
      return found(await db.transaction((tx) => wholeGraph(tx, id)), `graph ${id}`);
    },
    async graphPage({ params, caller, reads }) {
      const id = graphIdOf(params);
      const summary = found(await graphSummary(reads, id), `graph ${id}`);
      // Both read for a while where many jobs are, or many failed.
      const [graph, failures] = await Promise.all([
        reads.transaction((tx) => wholeGraph(tx, id)),
        (summary.counts.failed ?? 0) === 0 ? null : failuresFor(reads, caller, summary),
      ]);
      return { graph: found(graph, `graph ${id}`), failures };
    },
    async graphFailures({ params, query, caller, reads }) {
      const id = graphIdOf(params);
      const summary = found(await graphSummary(reads, id), `graph ${id}`);
      return failuresFor(reads, caller, summary, query.job);
    },
    async graphEvents({ params, query, context }) {
      const id = graphIdOf(params);
      let version = resumeFrom(context, query.since);
      return eventStream(context, feeds.graphs.ticket(id), async () => {
        const delta = found(await graphChangesSince(db, id, version), `graph ${id}`);
        const changed = delta.graph.version > version;
        version = delta.graph.version;
        return {
          events: changed ? [{ id: String(version), data: delta }] : [],
          over: delta.graph.state !== "running",
        };
      });
    },
    async cancelGraph({ params, caller }) {
      const id = graphIdOf(params);
      const unconfirmed = found(await cancelAndConfirm(db, queue, caller, id), `graph ${id}`);
      return { ...found(await graphSummary(db, id), `graph ${id}`), unconfirmed };
    },
    events({ query: { repository }, context, presentCaller }) {
      const sent = new Map<string, number>();
      return eventStream(context, feeds.graphs.ticket(""), async () => {
        const places = placesOf(await presentCaller(), ["read"]);
        const newest = await listGraphs(db, { repository, limit: graphsInStream, places });
        const changed = newest.filter((graph) => (sent.get(graph.id) ?? -1) < graph.version);
        for (const graph of changed) sent.set(graph.id, graph.version);
        return { events: changed.map((data) => ({ data })), over: false };
      });
    },
  };
}

function graphIdFrom(text: string): GraphId {
  const id = GraphId.safeParse(text);
  if (!id.success) throw new Fault("invalid_argument", `"${text}" is not the id of a graph`);
  return id.data;
}
