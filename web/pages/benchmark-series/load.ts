import { queryOptions } from "@tanstack/react-query";
import type { ChangePointStatement, Series, StartBenchmarkSearch } from "#api/benchmark-history.ts";
import { benchmarkHistoryEndpoints } from "#api/endpoints/benchmark-history-endpoints.ts";
import { benchmarkSearchEndpoints } from "#api/endpoints/benchmark-search-endpoints.ts";
import { call } from "../../farm/ask.ts";

// For the routes of these pages: they load this file with the pages' own code.
export { suitesQuery } from "../benchmarks/load.ts";

interface RequestedSeries {
  readonly suite: string;
  readonly case: string;
  readonly metric: string;
  readonly kind: Series["kind"];
  /** Includes all values of each point's iterations. */
  readonly samples?: boolean;
}

export const seriesQuery = ({ samples = false, ...asked }: RequestedSeries) =>
  queryOptions({
    queryKey: ["benchmark-series", asked, samples],
    queryFn: ({ signal }) =>
      call(
        benchmarkHistoryEndpoints.benchmarkSeries,
        { query: { ...asked, samples: samples ? "true" : undefined } },
        signal,
      ),
    staleTime: 30_000,
    // The line stays visible while its samples are loaded.
    placeholderData: (before, query) =>
      query !== undefined && JSON.stringify(query.queryKey[1]) === JSON.stringify(asked)
        ? before
        : undefined,
  });

export const submitChangePointStatement = (statement: ChangePointStatement) =>
  call(benchmarkHistoryEndpoints.judgeBenchmarkChangePoint, { body: statement });

export const startBenchmarkSearch = (asked: StartBenchmarkSearch) =>
  call(benchmarkSearchEndpoints.startBenchmarkSearch, { body: asked });
