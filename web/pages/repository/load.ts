import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { GridColumns } from "#api/commit-grid.ts";
import { graphEndpoints } from "#api/endpoints/graph-endpoints.ts";
import { repositoryEndpoints } from "#api/endpoints/repository-endpoints.ts";
import { call } from "../../farm/ask.ts";
import type { RepositorySearch } from "./search.ts";

const pageSize = 30;

/** A page's place: the graph before it, and the columns of the first page. */
interface GridPage {
  readonly before: string;
  readonly columns: GridColumns;
}

/** A repository's grid of commits and jobs, newest first, page by page. */
export const gridQuery = (repository: string, filters: RepositorySearch) =>
  infiniteQueryOptions({
    queryKey: ["commit-grid", repository, filters],
    initialPageParam: undefined as GridPage | undefined,
    queryFn: ({ pageParam, signal }) => {
      const { path, ...others } = filters;
      const query = { repository, ...others, limit: pageSize, ...pageParam };
      return path === undefined
        ? call(graphEndpoints.commitGrid, { query }, signal)
        : call(graphEndpoints.commitGridOfPath, { query: { ...query, path } }, signal);
    },
    getNextPageParam: ({ before, columns }): GridPage | undefined =>
      before === null ? undefined : { before, columns },
  });

export const settingsQuery = (repository: string) =>
  queryOptions({
    queryKey: ["repository-settings", repository],
    queryFn: ({ signal }) =>
      call(repositoryEndpoints.repositorySettings, { params: { repository } }, signal),
  });
