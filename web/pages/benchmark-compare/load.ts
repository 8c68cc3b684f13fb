import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { benchmarkHistoryEndpoints } from "#api/endpoints/benchmark-history-endpoints.ts";
import { call } from "../../farm/ask.ts";
import { suitesQuery } from "../benchmarks/load.ts";
import type { CompareSearch } from "../benchmarks/search.ts";

export interface ComparedPair {
  readonly suite: string;
  readonly before: string;
  readonly after: string;
  readonly metric: string | undefined;
}

export const comparisonQuery = ({ suite, before, after, metric }: ComparedPair) =>
  queryOptions({
    queryKey: ["benchmark-comparison", suite, before, after, metric ?? ""],
    queryFn: ({ signal }) =>
      call(
        benchmarkHistoryEndpoints.compareBenchmarks,
        { query: { suite, before, after, metric } },
        signal,
      ),
    // It changes only while one of the two artifacts is being measured.
    staleTime: 60_000,
  });

/** Undefined while the address does not name a complete comparison. */
export function comparedPair(search: CompareSearch): ComparedPair | undefined {
  const { suite, before, after, metric } = search;
  return suite === undefined || before === undefined || after === undefined
    ? undefined
    : { suite, before, after, metric };
}

export async function loadComparison(client: QueryClient, search: CompareSearch): Promise<void> {
  const pair = comparedPair(search);
  await Promise.all([
    client.ensureQueryData(suitesQuery),
    pair === undefined ? undefined : client.ensureQueryData(comparisonQuery(pair)),
  ]);
}
