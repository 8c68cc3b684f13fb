import { infiniteQueryOptions } from "@tanstack/react-query";
import { searchEndpoints } from "#api/endpoints/search-endpoints.ts";
import { call } from "../../farm/ask.ts";

/** A search with its commits, newest first, page by page. */
export const searchQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["search", id],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam, signal }) =>
      call(
        searchEndpoints.search,
        { params: { search: id }, query: { before: pageParam } },
        signal,
      ),
    getNextPageParam: (last) => last.next ?? undefined,
    // Its graphs have streams; its conclusions are requested.
    refetchInterval: ({ state: { data } }) => (data?.pages[0]?.state === "running" ? 2_000 : false),
  });

export const cancelSearch = (id: string) =>
  call(searchEndpoints.cancelSearch, { params: { search: id } });
