import { queryOptions } from "@tanstack/react-query";
import { benchmarkSearchEndpoints } from "#api/endpoints/benchmark-search-endpoints.ts";
import { call } from "../../farm/ask.ts";

/** Each step of a search is a request that takes minutes. */
const refetchMs = 10_000;

export const benchmarkSearchesQuery = (suite: string) =>
  queryOptions({
    queryKey: ["benchmark-searches", suite],
    queryFn: ({ signal }) =>
      call(benchmarkSearchEndpoints.benchmarkSearches, { query: { suite } }, signal),
    enabled: suite !== "",
    refetchInterval: ({ state: { data } }) =>
      data?.searches.some(({ state }) => state === "running") ? refetchMs : false,
  });

export const benchmarkSearchQuery = (id: string) =>
  queryOptions({
    queryKey: ["benchmark-search", id],
    queryFn: ({ signal }) =>
      call(benchmarkSearchEndpoints.benchmarkSearch, { params: { search: id } }, signal),
    refetchInterval: ({ state: { data } }) => (data?.state === "running" ? refetchMs : false),
  });

export const cancelBenchmarkSearch = (id: string) =>
  call(benchmarkSearchEndpoints.cancelBenchmarkSearch, { params: { search: id } });
