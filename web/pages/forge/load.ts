import { queryOptions } from "@tanstack/react-query";
import { forgeEndpoints } from "#api/endpoints/forge-endpoints.ts";
import { call } from "../../farm/ask.ts";

export const watchedQuery = queryOptions({
  queryKey: ["forge"],
  queryFn: ({ signal }) => call(forgeEndpoints.forgeRepositories, {}, signal),
  refetchInterval: 10_000,
});

export const watchedOneQuery = (repository: string) =>
  queryOptions({
    queryKey: ["forge", repository],
    queryFn: ({ signal }) =>
      call(forgeEndpoints.forgeRepository, { query: { repository } }, signal),
    refetchInterval: 10_000,
  });
