import { infiniteQueryOptions } from "@tanstack/react-query";
import { z } from "zod";
import { GraphSummary } from "#api/graph.ts";
import { ask } from "../../farm/ask.ts";

const pageSize = 50;

/** A repository's graphs, newest first, page by page; a page that is not full is the last. */
export const graphsQuery = (repository: string) =>
  infiniteQueryOptions({
    queryKey: ["graphs", repository],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const search = new URLSearchParams({ repository, limit: String(pageSize) });
      if (pageParam !== undefined) search.set("before", pageParam);
      return ask(z.array(GraphSummary), `/graphs?${search}`, { signal });
    },
    getNextPageParam: (last) => (last.length < pageSize ? undefined : last.at(-1)?.id),
  });
