import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { GraphSummary } from "#api/graph.ts";
import { apiBase } from "../../farm/ask.ts";
import { useEventStream } from "../../farm/use-event-stream.ts";
import { CountsBar } from "../../parts/counts-bar.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { StateIcon } from "../../parts/state.tsx";
import { Ago, Elapsed } from "../../parts/times.tsx";
import { setQuery } from "./load.ts";

/** Graphs that belong together: one push, its clones, what its jobs made, a search over commits. */
export function GraphSetPage() {
  const { id } = useParams({ from: "/sets/$id" });
  const query = setQuery(id);
  const { data: set } = useSuspenseQuery(query);
  const client = useQueryClient();
  const first = set.graphs[0];
  usePageTitle(`Set of ${first?.subject ?? id}`);
  useEventStream(`set ${id}`, {
    url: () => `${apiBase}/events`,
    onEvent: () => void client.invalidateQueries(query),
    onReconnected: () => void client.invalidateQueries(query),
  });
  return (
    <div className="page">
      <p className="crumbs">
        <Link to="/">Repositories</Link>
        {first === undefined ? null : (
          <>
            {" "}
            /{" "}
            <Link to="/repositories/$name" params={{ name: first.repository }}>
              {first.repository}
            </Link>
          </>
        )}
      </p>
      <h1>
        {first?.subject ?? "Graph set"}{" "}
        <span className="faint number">
          {set.graphs.length === 1 ? "1 graph" : `${set.graphs.length} graphs`}
        </span>
      </h1>
      <ol className="rows graphs">
        {set.graphs.map((graph) => (
          <li key={graph.id}>
            <StateIcon state={graph.state} />
            <span className="what">
              <Link className="main" to="/graphs/$id" params={{ id: graph.id }}>
                {graph.subject}
              </Link>
              <span className="faint">
                <code>{graph.commit.slice(0, 8)}</code> · {comesFrom(graph)} · {graph.submittedBy}
              </span>
            </span>
            <CountsBar counts={graph.counts} jobs={graph.jobs} />
            <span className="number faint">{graph.jobs} jobs</span>
            <Elapsed from={graph.createdAt} to={graph.finishedAt} />
            <Ago time={graph.createdAt} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function comesFrom({ parent }: GraphSummary): string {
  if (parent === null) return "first of the set";
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
