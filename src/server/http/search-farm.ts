import type { z } from "zod";
import type { Principal } from "#access/principal.ts";
import type { JobCoalescing } from "#api/coalescing.ts";
import type { Search, SearchDetail, StartedSearch, StartSearch } from "#api/search.ts";

/** Which searches, and how many of them. */
export interface SearchQuery {
  readonly repository: string | undefined;
  readonly limit: number;
}

/** Backfills and bisections. Reads answer undefined when there is no such search. */
export interface SearchFarm {
  startSearch(request: z.output<typeof StartSearch>, by: Principal): Promise<StartedSearch>;
  searches(query: SearchQuery): Promise<Search[]>;
  /** With at most `limit` of its commits before a position, the newest first. */
  search(
    id: string,
    commits: { readonly before: number | undefined; readonly limit: number },
  ): Promise<SearchDetail | undefined>;
  cancelSearch(id: string, by: Principal): Promise<Search | undefined>;
  /** How a job stands to those of its key on other commits; undefined when there is no such job. */
  jobCoalescing(graphId: string, job: string): Promise<JobCoalescing | undefined>;
}
