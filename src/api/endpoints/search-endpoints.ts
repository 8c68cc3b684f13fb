import { z } from "zod";
import { rightAt, rightOnListed, rightSomewhere } from "#core/right.ts";
import { JobCoalescing } from "../coalescing.ts";
import { createdWhenNew, endpoint, json } from "../endpoint.ts";
import { Search, SearchDetail, StartedSearch, StartSearch } from "../search.ts";

/** Backfills and bisections over ranges of commits, and jobs whose runs are used for other commits. */
export const searchEndpoints = {
  startSearch: endpoint({
    method: "POST",
    path: "/searches",
    right: rightSomewhere("submit"),
    summary:
      "Starts a `backfill` or a `bisect`; with `dryRun` only its `forecast`. `sameResults` above 1 also needs `retrigger`.",
    body: StartSearch,
    limit: "searches",
    answer: createdWhenNew(StartedSearch),
  }),
  searches: endpoint({
    method: "GET",
    path: "/searches",
    right: rightOnListed("read"),
    summary: "Newest first, at most 200.",
    query: z.object({
      repository: z.string().optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
    }),
    answer: json(z.array(Search)),
  }),
  search: endpoint({
    method: "GET",
    path: "/searches/:search",
    right: rightAt("search", "read"),
    summary:
      "A search with its commits, newest first, at most 1,000; pass `next` as `before` for the next page.",
    query: z.object({
      before: z.coerce.number().int().min(1).optional(),
      limit: z.coerce.number().int().min(1).max(1_000).default(200),
    }),
    answer: json(SearchDetail),
  }),
  cancelSearch: endpoint({
    method: "POST",
    path: "/searches/:search/cancel",
    right: rightAt("search", "cancel"),
    summary: "Cancels it and its graphs.",
    answer: json(Search),
  }),
  jobCoalescing: endpoint({
    method: "GET",
    path: "/graphs/:graph/jobs/:job/coalescing",
    right: rightAt("graph", "read"),
    summary:
      "The run whose result counts for the job, the jobs for which its result counts, and the range to bisect if it failed.",
    answer: json(JobCoalescing),
  }),
} as const;
