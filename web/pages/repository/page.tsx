import { type InfiniteData, useQueryClient, useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { GraphSummary } from "#api/graph.ts";
import { apiBase } from "../../farm/ask.ts";
import { mergeGraphSummary } from "../../farm/merge-graph-delta.ts";
import { useEventStream } from "../../farm/use-event-stream.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { GraphRow } from "../../parts/graph-row.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { graphsQuery } from "./load.ts";
import { RepositoryLinks } from "./repository-links.tsx";

export function RepositoryPage() {
  const { name } = useParams({ from: "/repositories/$name" });
  const query = graphsQuery(name);
  const pages = useSuspenseInfiniteQuery(query);
  const { data } = pages;
  const client = useQueryClient();
  const graphs = data.pages.flat();
  usePageTitle(name);
  useEventStream(`events ${name}`, {
    url: () => `${apiBase}/events?repository=${encodeURIComponent(name)}`,
    onEvent: (text) => {
      const heard = GraphSummary.parse(JSON.parse(text));
      client.setQueryData(query.queryKey, (known) => known && mergePages(known, heard));
    },
    // This stream cannot resend missed events.
    onReconnected: () => void client.invalidateQueries(query),
  });

  if (graphs.length === 0) {
    return (
      <EmptyState heading="h1" title={`No graphs of ${name}`} command="grange submit . --rev HEAD">
        Run this in the repository; its graph appears here while it runs.
      </EmptyState>
    );
  }
  return (
    <div className="page">
      <p className="crumbs">
        <Link to="/repositories">Repositories</Link>
      </p>
      <h1>{name}</h1>
      <RepositoryLinks name={name} />
      <ol className="rows graphs">
        {graphs.map((graph) => (
          <GraphRow key={graph.id} graph={graph}>
            {graph.rev} · {graph.author}
          </GraphRow>
        ))}
      </ol>
      <MoreButton pages={pages}>Load older graphs</MoreButton>
    </div>
  );
}

/** A graph on a later page is updated there; an unknown one is new, and is added first. */
function mergePages<P>(
  known: InfiniteData<GraphSummary[], P>,
  heard: GraphSummary,
): InfiniteData<GraphSummary[], P> {
  const at = known.pages.findIndex((page) => page.some((graph) => graph.id === heard.id));
  const page = known.pages[Math.max(0, at)];
  if (page === undefined) return known;
  return { ...known, pages: known.pages.with(Math.max(0, at), mergeGraphSummary(page, heard)) };
}
