import { infiniteQueryOptions } from "@tanstack/react-query";
import { InvocationList } from "#api/invocation.ts";
import { ask } from "../../farm/ask.ts";
import type { InvocationsSearch } from "./search.ts";

const pageSize = 50;

/** No stream tells of invocations: while the page is looked at, it asks again so often. */
const refetchMs = 4_000;
/** Whoever has loaded older ones, too, looks for something: asking again asks for all of them. */
const manyRefetchMs = 20_000;

/** Invocations, the newest first, page by page. */
export const invocationsQuery = ({ project, commit }: InvocationsSearch) =>
  infiniteQueryOptions({
    queryKey: ["invocations", project ?? "", commit ?? ""],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const search = new URLSearchParams({ limit: String(pageSize) });
      if (project !== undefined && project !== "") search.set("project", project);
      if (commit !== undefined && commit !== "") search.set("commit", commit);
      if (pageParam !== undefined) search.set("before", pageParam);
      return ask(InvocationList, `/invocations?${search}`, { signal });
    },
    getNextPageParam: (last) => last.next ?? undefined,
    refetchInterval: ({ state }) =>
      (state.data?.pages.length ?? 0) > 1 ? manyRefetchMs : refetchMs,
  });
