import { infiniteQueryOptions } from "@tanstack/react-query";
import { graphEndpoints } from "#api/endpoints/graph-endpoints.ts";
import { call } from "../../farm/ask.ts";

const pageSize = 50;

/** A repository's graphs, newest first, page by page; an incomplete page is the last. */
export const graphsQuery = (repository: string) =>
  infiniteQueryOptions({
    queryKey: ["graphs", repository],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      call(
        graphEndpoints.graphs,
        { query: { repository, limit: pageSize, before: pageParam } },
        signal,
      ),
    getNextPageParam: (last) => (last.length < pageSize ? undefined : last.at(-1)?.id),
  });
