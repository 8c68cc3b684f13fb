import { z } from "zod";
import { rightOnFarm } from "#core/right.ts";
import {
  BenchmarkSearches,
  BenchmarkSearchView,
  StartBenchmarkSearch,
} from "../benchmark-history.ts";
import { created, endpoint, json } from "../endpoint.ts";

/** Searches along the main line for the artifacts at which a figure changed. */
export const benchmarkSearchEndpoints = {
  startBenchmarkSearch: endpoint({
    method: "POST",
    path: "/benchmarks/searches",
    right: rightOnFarm("benchmark"),
    summary:
      "Measures artifacts between two others: a `scan` at intervals, `change-points` for every step, a `bisect` for the largest one.",
    body: StartBenchmarkSearch,
    limit: "searches",
    answer: created(BenchmarkSearchView),
  }),
  benchmarkSearches: endpoint({
    method: "GET",
    path: "/benchmarks/searches",
    right: rightOnFarm("read"),
    summary: "Searches, newest first. `limit` is 50, at most 200.",
    query: z.object({
      suite: z.string().max(200).optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
    }),
    answer: json(BenchmarkSearches),
  }),
  benchmarkSearch: endpoint({
    method: "GET",
    path: "/benchmarks/searches/:search",
    right: rightOnFarm("read"),
    summary: "A search with the points that it has measured and the steps that it has found.",
    answer: json(BenchmarkSearchView),
  }),
  cancelBenchmarkSearch: endpoint({
    method: "POST",
    path: "/benchmarks/searches/:search/cancel",
    right: rightOnFarm("benchmark"),
    summary: "Cancels it. Its results so far are kept.",
    answer: json(BenchmarkSearchView),
  }),
} as const;
