import { Fault } from "#core/fault.ts";
import { GraphId } from "#graphs/graph-id.ts";
import { cancelSearch } from "#graphs/ranges/cancel-search.ts";
import { jobCoalescing } from "#graphs/ranges/job-coalescing.store.ts";
import {
  commitsBefore,
  findSearch,
  newestSearches,
  SearchId,
} from "#graphs/ranges/search.store.ts";
import { startSearch } from "#graphs/ranges/start-search.ts";
import type { SearchFarm } from "./http/search-farm.ts";
import type { Services } from "./services.ts";

export function bindSearches(services: Services): SearchFarm {
  const { db, queue } = services;
  return {
    async startSearch(request, by) {
      const { id, forecast } = await startSearch(services, request, by);
      const search = id === undefined ? undefined : await findSearch(db, id);
      return { forecast, search: search ?? null };
    },

    searches: ({ repository, limit }) => newestSearches(db, repository, limit),

    async search(written, { before, limit }) {
      const id = searchIdFrom(written);
      const search = await findSearch(db, id);
      if (search === undefined) return undefined;
      const commitList = await commitsBefore(db, id, before, limit);
      const last = commitList.at(-1)?.position ?? 1;
      return { ...search, commitList, next: commitList.length < limit || last === 1 ? null : last };
    },

    jobCoalescing: (id, job) => jobCoalescing(db, GraphId.parse(id), job),

    async cancelSearch(written, by) {
      const id = searchIdFrom(written);
      await cancelSearch(db, queue, id, by);
      return findSearch(db, id);
    },
  };
}

function searchIdFrom(text: string): SearchId {
  const id = SearchId.safeParse(text);
  if (!id.success) throw new Fault("invalid_argument", `"${text}" is no search's id`);
  return id.data;
}
