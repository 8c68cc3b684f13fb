import { queryOptions } from "@tanstack/react-query";
import { cacheEndpoints } from "#api/endpoints/cache-endpoints.ts";
import { call } from "../../farm/ask.ts";

export const cacheUseQuery = (days: number) =>
  queryOptions({
    queryKey: ["cache-use", days],
    queryFn: ({ signal }) => call(cacheEndpoints.cacheUse, { query: { days } }, signal),
  });

export const storeContentsQuery = queryOptions({
  queryKey: ["store-contents"],
  queryFn: ({ signal }) => call(cacheEndpoints.storeContents, {}, signal),
});

export const actionComparisonQuery = (project: string, before: string, after: string) =>
  queryOptions({
    queryKey: ["action-comparison", project, before, after],
    queryFn: ({ signal }) =>
      call(cacheEndpoints.actionComparison, { query: { project, before, after } }, signal),
    // An action never changes.
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
