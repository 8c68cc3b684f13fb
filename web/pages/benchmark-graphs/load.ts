import { queryOptions } from "@tanstack/react-query";
import { SeriesGrid } from "#api/benchmark-history.ts";
import { ask } from "../../farm/ask.ts";
import { facets, type GraphsSearch } from "../benchmarks/search.ts";

/** More charts than anybody looks through; the page says how many were left out. */
const mostSeries = 500;

export const gridQuery = (suite: string, metric: string, search: GraphsSearch) => {
  const asked = new URLSearchParams({ suite, metric, limit: String(mostSeries) });
  for (const key of [...facets, "from", "to"] as const) {
    const value = search[key];
    if (value !== undefined) asked.set(key, value);
  }
  if (search.line !== undefined) asked.set("kind", search.line);
  return queryOptions({
    queryKey: ["benchmark-graphs", asked.toString()],
    queryFn: ({ signal }) => ask(SeriesGrid, `/benchmarks/graphs?${asked}`, { signal }),
    enabled: suite !== "" && metric !== "",
    staleTime: 60_000,
    // What is shown stays until the next is there.
    placeholderData: (before) => before,
  });
};
