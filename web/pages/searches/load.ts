import { queryOptions } from "@tanstack/react-query";
import { z } from "zod";
import { Search, StartedSearch, type StartSearch } from "#api/search.ts";
import { ask, tell } from "../../farm/ask.ts";

/** The newest searches, of one repository or of all. */
export const searchesQuery = (repository: string | undefined) =>
  queryOptions({
    queryKey: ["searches", repository],
    queryFn: ({ signal }) => {
      const of = repository === undefined ? "" : `?repository=${encodeURIComponent(repository)}`;
      return ask(z.array(Search), `/searches${of}`, { signal });
    },
    refetchInterval: 10_000,
  });

/** What a search would come to. */
export const forecastQuery = (asked: StartSearch | undefined) =>
  queryOptions({
    queryKey: ["search forecast", asked],
    queryFn: () => tell(StartedSearch, "/searches", { ...asked, dryRun: true }),
    enabled: asked !== undefined,
    retry: false,
  });

export const startSearch = (asked: StartSearch) => tell(StartedSearch, "/searches", asked);
