import { queryOptions, skipToken } from "@tanstack/react-query";
import { searchEndpoints } from "#api/endpoints/search-endpoints.ts";
import type { StartSearch } from "#api/search.ts";
import { call } from "../../farm/ask.ts";

/** The newest searches, of one repository or of all. */
export const searchesQuery = (repository: string | undefined) =>
  queryOptions({
    queryKey: ["searches", repository],
    queryFn: ({ signal }) => call(searchEndpoints.searches, { query: { repository } }, signal),
    refetchInterval: 10_000,
  });

/** The forecast of a search. */
export const forecastQuery = (asked: StartSearch | undefined) =>
  queryOptions({
    queryKey: ["search forecast", asked],
    queryFn:
      asked === undefined
        ? skipToken
        : () => call(searchEndpoints.startSearch, { body: { ...asked, dryRun: true } }),
    retry: false,
  });

export const startSearch = (asked: StartSearch) =>
  call(searchEndpoints.startSearch, { body: asked });
