import { placesOf } from "#access/places-of.ts";
import type { searchEndpoints } from "#api/endpoints/search-endpoints.ts";
import { jobCoalescing } from "#graphs/coalescing/job-coalescing.store.ts";
import { cancelSearch } from "#searches/cancel-search.ts";
import {
  commitsBefore,
  findSearch,
  newestSearches,
  type SearchId,
} from "#searches/search.store.ts";
import { startSearch } from "#searches/start-search.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { found } from "./found.ts";
import { graphIdOf } from "./graph-of-call.ts";
import type { HandlerServices } from "./handler-services.ts";
import { searchIdFrom } from "./search-id-from.ts";

export function searchHandlers(services: HandlerServices): HandlersFor<typeof searchEndpoints> {
  const { db, queue } = services;
  const searchOf = async (id: SearchId) => found(await findSearch(db, id), `search ${id}`);

  return {
    async startSearch({ body, caller }) {
      const { id, forecast } = await startSearch(services, body, caller);
      const search = id === undefined ? undefined : await findSearch(db, id);
      return { isNew: search !== undefined, answer: { forecast, search: search ?? null } };
    },
    searches: ({ query: { repository, limit }, caller }) =>
      newestSearches(db, repository, limit, placesOf(caller, ["read"])),
    async search({ params, query: { before, limit } }) {
      const id = searchIdFrom(params.search);
      const search = await searchOf(id);
      const commitList = await commitsBefore(db, id, before, limit);
      const last = commitList.at(-1)?.position ?? 1;
      return { ...search, commitList, next: commitList.length < limit || last === 1 ? null : last };
    },
    async cancelSearch({ params, caller }) {
      const id = searchIdFrom(params.search);
      await cancelSearch(db, queue, id, caller);
      return searchOf(id);
    },
    async jobCoalescing({ params: { graph, job } }) {
      const id = graphIdOf({ graph });
      return found(await jobCoalescing(db, id, job), `job "${job}" in graph ${id}`);
    },
  };
}
