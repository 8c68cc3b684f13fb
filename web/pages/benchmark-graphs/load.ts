import { queryOptions } from "@tanstack/react-query";
import { benchmarkHistoryEndpoints } from "#api/endpoints/benchmark-history-endpoints.ts";
import { call } from "../../farm/ask.ts";
import { type GraphsSearch, lineOf } from "../benchmarks/search.ts";

/** More charts than a user would look at; the page states how many were left out. */
const mostSeries = 500;

export const gridQuery = (suite: string, metric: string, search: GraphsSearch) => {
  const { section, benchmark, profile, scenario, backend, target, from, to, line } = search;
  const query = {
    suite,
    metric,
    kind: lineOf(line),
    section,
    benchmark,
    profile,
    scenario,
    backend,
    target,
    from,
    to,
    limit: mostSeries,
  };
  return queryOptions({
    queryKey: ["benchmark-graphs", query],
    queryFn: ({ signal }) => call(benchmarkHistoryEndpoints.benchmarkGraphs, { query }, signal),
    enabled: suite !== "" && metric !== "",
    staleTime: 60_000,
    // The present data stays visible until the new data arrives.
    placeholderData: (before) => before,
  });
};
