import { queryOptions } from "@tanstack/react-query";
import { BenchmarkSearches, BenchmarkSearchView } from "#api/benchmark-history.ts";
import { ask, tell } from "../../farm/ask.ts";

/** Each step of a search is a request that takes minutes. */
const refetchMs = 10_000;

export const benchmarkSearchesQuery = (suite: string) =>
  queryOptions({
    queryKey: ["benchmark-searches", suite],
    queryFn: ({ signal }) =>
      ask(BenchmarkSearches, `/benchmarks/searches?${new URLSearchParams({ suite })}`, { signal }),
    enabled: suite !== "",
    refetchInterval: ({ state: { data } }) =>
      data?.searches.some(({ state }) => state === "running") ? refetchMs : false,
  });

const path = (id: string) => `/benchmarks/searches/${encodeURIComponent(id)}`;

export const benchmarkSearchQuery = (id: string) =>
  queryOptions({
    queryKey: ["benchmark-search", id],
    queryFn: ({ signal }) => ask(BenchmarkSearchView, path(id), { signal }),
    refetchInterval: ({ state: { data } }) => (data?.state === "running" ? refetchMs : false),
  });

export const cancelBenchmarkSearch = (id: string) =>
  tell(BenchmarkSearchView, `${path(id)}/cancel`);
