import { infiniteQueryOptions } from "@tanstack/react-query";
import { Search, SearchDetail } from "#api/search.ts";
import { ask, tell } from "../../farm/ask.ts";

const path = (id: string) => `/searches/${encodeURIComponent(id)}`;

/** A search with its commits, newest first, page by page. */
export const searchQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["search", id],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam, signal }) =>
      ask(SearchDetail, `${path(id)}${pageParam === undefined ? "" : `?before=${pageParam}`}`, {
        signal,
      }),
    getNextPageParam: (last) => last.next ?? undefined,
    // Its graphs tell of themselves; what it concludes is asked for.
    refetchInterval: ({ state: { data } }) => (data?.pages[0]?.state === "running" ? 2_000 : false),
  });

export const cancelSearch = (id: string) => tell(Search, `${path(id)}/cancel`);
