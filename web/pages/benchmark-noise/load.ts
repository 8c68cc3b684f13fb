import { queryOptions } from "@tanstack/react-query";
import { benchmarkHistoryEndpoints } from "#api/endpoints/benchmark-history-endpoints.ts";
import { call } from "../../farm/ask.ts";

export const noiseQuery = (asked: { readonly suite: string; readonly case: string }) =>
  queryOptions({
    queryKey: ["benchmark-noise", asked],
    queryFn: ({ signal }) =>
      call(benchmarkHistoryEndpoints.benchmarkNoise, { query: asked }, signal),
    staleTime: 30_000,
  });
