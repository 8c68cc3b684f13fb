import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { GraphSummary } from "#api/graph.ts";
import { apiBase } from "../../farm/ask.ts";
import { useEventStream } from "../../farm/use-event-stream.ts";
import { Crumbs } from "../../parts/crumbs.tsx";
import { GraphRow } from "../../parts/graph-row.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { setQuery } from "./load.ts";

/** Related graphs: submissions for one set, clones, graphs that jobs created, a search over commits. */
export function GraphSetPage() {
  const { id } = useParams({ from: "/sets/$id" });
  const query = setQuery(id);
  const { data: set } = useSuspenseQuery(query);
  const client = useQueryClient();
  const first = set.graphs[0];
  const repositories = [...new Set(set.graphs.map(({ repository }) => repository))];
  const title = set.name ?? first?.subject ?? "Graph set";
  usePageTitle(set.name === null ? `Set of ${title}` : `Set ${title}`);
  useEventStream(`set ${id}`, {
    url: () => `${apiBase}/events`,
    onEvent: (data) => {
      const heard = GraphSummary.parse(JSON.parse(data));
      const known = set.graphs.find((graph) => graph.id === heard.id);
      // The stream reports graphs of all sets, and at first those that the page has just loaded.
      const isChanged = known === undefined ? heard.set === set.id : heard.version > known.version;
      if (isChanged) void client.invalidateQueries(query);
    },
    onReconnected: () => void client.invalidateQueries(query),
  });
  return (
    <div className="page">
      <Crumbs>
        {repositories.map((name, index) => (
          <span key={name}>
            {index === 0 ? null : " / "}
            <Link to="/repositories/$name" params={{ name }}>
              {name}
            </Link>
          </span>
        ))}
      </Crumbs>
      <h1>
        {title}{" "}
        <span className="faint number">
          {set.graphs.length === 1 ? "1 graph" : `${set.graphs.length} graphs`}
        </span>
      </h1>
      <ol className="rows graphs">
        {set.graphs.map((graph) => (
          <GraphRow key={graph.id} graph={graph}>
            {repositories.length === 1 ? "" : `${graph.repository} · `}
            {comesFrom(graph, set.id)} · {graph.submittedBy}
          </GraphRow>
        ))}
      </ol>
    </div>
  );
}

function comesFrom({ id, parent }: GraphSummary, set: string): string {
  if (parent === null) return id === set ? "first of the set" : "submitted for the set";
  switch (parent.kind) {
    case "clone":
      return `clone of ${parent.id.slice(0, 8)}`;
    case "backfill":
    case "bisect":
      return parent.kind;
    case "subgraph":
      return `made by ${parent.job ?? "a job"} of ${parent.id.slice(0, 8)}`;
  }
}
