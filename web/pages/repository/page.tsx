import { useQueryClient, useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useDeferredValue, useRef } from "react";
import { GraphSummary } from "#api/graph.ts";
import { apiBase } from "../../farm/ask.ts";
import { isNews } from "../../farm/is-news.ts";
import { useEventStream } from "../../farm/use-event-stream.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { CommitGrid } from "./commit-grid.tsx";
import { GridFilters } from "./grid-filters.tsx";
import { gridQuery } from "./load.ts";
import { RepositoryLinks } from "./repository-links.tsx";
import { RepositorySettingsLine } from "./repository-settings.tsx";
import type { RepositorySearch } from "./search.ts";
import "./repository.css";

export function RepositoryPage() {
  const { name } = useParams({ from: "/repositories/$name" });
  const search = useSearch({ from: "/repositories/$name" });
  const navigate = useNavigate({ from: "/repositories/$name" });
  // The grid of the filters before stays while the next one loads.
  const filters = useDeferredValue(search);
  const query = gridQuery(name, filters);
  const pages = useSuspenseInfiniteQuery(query);
  const refresh = useRefresh(query.queryKey);
  usePageTitle(name);
  const rows = pages.data.pages.flatMap((page) => page.rows);
  useEventStream(`events ${name}`, {
    url: () => `${apiBase}/events?repository=${encodeURIComponent(name)}`,
    onEvent: (data) => {
      const heard = GraphSummary.parse(JSON.parse(data));
      if (
        isNews(
          rows.map(({ graph }) => graph),
          heard,
        )
      )
        refresh();
    },
    // This stream cannot resend missed events.
    onReconnected: refresh,
  });

  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  if (rows.length === 0 && !isFiltered) {
    return (
      <EmptyState heading="h1" title={`No graphs of ${name}`} command="grange submit . --rev HEAD">
        Run this in the repository; its graph appears here while it runs.
      </EmptyState>
    );
  }
  const change = (next: RepositorySearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false });
  return (
    <div className="page wide-page">
      <h1>{name}</h1>
      <RepositoryLinks name={name} />
      <RepositorySettingsLine name={name} />
      <GridFilters filters={search} onChange={change} />
      {rows.length === 0 ? (
        <p className="faint center">
          {pages.hasNextPage
            ? "None of the newest commits matches these filters. Load older commits to look further."
            : "No commit matches these filters."}
        </p>
      ) : (
        <CommitGrid rows={rows} columns={pages.data.pages[0]?.columns ?? "job"} />
      )}
      <MoreButton pages={pages}>Load older commits</MoreButton>
    </div>
  );
}

/**
 * Returns a function that reads a query again. One read is in progress at a time: changes meanwhile cause one more
 * read after it, so that the last change is always shown.
 */
function useRefresh(queryKey: readonly unknown[]): () => void {
  const client = useQueryClient();
  const reads = useRef<"none" | "one" | "one more">("none");
  return function refresh() {
    if (reads.current !== "none") {
      reads.current = "one more";
      return;
    }
    reads.current = "one";
    void client.invalidateQueries({ queryKey }).finally(() => {
      const again = reads.current === "one more";
      reads.current = "none";
      if (again) refresh();
    });
  };
}
