import { queryOptions } from "@tanstack/react-query";
import { z } from "zod";
import {
  BenchmarkSearchView,
  type SayOfChangePoint,
  Series,
  type StartBenchmarkSearch,
} from "#api/benchmark-history.ts";
import { ask, tell } from "../../farm/ask.ts";

export interface RequestedSeries {
  readonly suite: string;
  readonly case: string;
  readonly metric: string;
  readonly kind: string;
  /** All values of each point's iterations, too. */
  readonly samples?: boolean;
}

export const seriesQuery = ({ samples = false, ...asked }: RequestedSeries) =>
  queryOptions({
    queryKey: ["benchmark-series", asked, samples],
    queryFn: ({ signal }) => {
      const search = new URLSearchParams({ ...asked, ...(samples ? { samples: "true" } : {}) });
      return ask(Series, `/benchmarks/series?${search}`, { signal });
    },
    staleTime: 30_000,
    // The line stays while its samples are fetched.
    placeholderData: (before, query) =>
      query !== undefined && JSON.stringify(query.queryKey[1]) === JSON.stringify(asked)
        ? before
        : undefined,
  });

export const sayOfChangePoint = (said: SayOfChangePoint) =>
  tell(z.unknown(), "/benchmarks/change-points", said);

export const startBenchmarkSearch = (asked: StartBenchmarkSearch) =>
  tell(BenchmarkSearchView, "/benchmarks/searches", asked);
