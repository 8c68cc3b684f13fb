import { infiniteQueryOptions } from "@tanstack/react-query";
import { invocationEndpoints } from "#api/endpoints/invocation-endpoints.ts";
import { call } from "../../farm/ask.ts";
import type { InvocationsSearch } from "./search.ts";

const pageSize = 50;

/** No stream reports invocations: while the page is visible, it refreshes this often. */
const refetchMs = 4_000;
/** When older pages are loaded, too, the user is searching, and a refresh loads all of them again. */
const manyRefetchMs = 20_000;

/** Invocations, the newest first, page by page. */
export const invocationsQuery = ({ project, commit }: InvocationsSearch) =>
  infiniteQueryOptions({
    queryKey: ["invocations", project ?? "", commit ?? ""],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const query = {
        limit: pageSize,
        project: project === "" ? undefined : project,
        commit: commit === "" ? undefined : commit,
        before: pageParam,
      };
      return call(invocationEndpoints.invocations, { query }, signal);
    },
    getNextPageParam: (last) => last.next ?? undefined,
    refetchInterval: ({ state }) =>
      (state.data?.pages.length ?? 0) > 1 ? manyRefetchMs : refetchMs,
  });
