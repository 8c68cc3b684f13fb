import { z } from "zod";
import { Search, SearchDetail, StartedSearch, type StartSearch } from "#api/search.ts";
import type { ApiClient } from "./api-client.ts";

/** Backfills and bisections. */
export function searchCalls(api: ApiClient) {
  const path = (id: string) => `/searches/${encodeURIComponent(id)}`;
  return {
    start: (request: StartSearch) => api.post(StartedSearch, "/searches", request),
    list: () => api.get(z.array(Search), "/searches?limit=200"),
    search: (id: string) => api.get(SearchDetail, `${path(id)}?limit=1`),
    cancel: (id: string) => api.post(Search, `${path(id)}/cancel`, {}),
  };
}
