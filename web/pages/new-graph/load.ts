import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { z } from "zod";
import { Branch } from "#api/branch.ts";
import { CatalogDetail } from "#api/catalog.ts";
import { GraphPreview, type PreviewGraph } from "#api/preview.ts";
import { ask, tell } from "../../farm/ask.ts";

/** What a link to a new graph says: all that was chosen, so that it can be sent to somebody. */
export const NewGraphSearch = z.object({
  repository: z.coerce.string().optional().catch(undefined),
  rev: z.coerce.string().optional().catch(undefined),
  catalog: z.string().optional().catch(undefined),
  graph: z.string().optional().catch(undefined),
  select: z.string().optional().catch(undefined),
  parameters: z.record(z.string(), z.json()).optional().catch(undefined),
  switches: z
    .record(z.string(), z.union([z.boolean(), z.string()]))
    .optional()
    .catch(undefined),
});
export type NewGraphSearch = z.infer<typeof NewGraphSearch>;

/** The choice as the API takes it. */
export function choiceOf(search: NewGraphSearch): PreviewGraph {
  const { repository, rev, catalog, graph, select } = search;
  return {
    parameters: search.parameters ?? {},
    switches: search.switches ?? {},
    ...(repository === undefined ? {} : { repository }),
    ...(rev === undefined ? {} : { rev }),
    ...(catalog === undefined ? {} : { catalog }),
    ...(graph === undefined ? {} : { graph }),
    ...(select === undefined ? {} : { select }),
  };
}

export const previewQuery = (search: NewGraphSearch) =>
  queryOptions({
    queryKey: ["preview", choiceOf(search)],
    queryFn: () => tell(GraphPreview, "/graphs/preview", choiceOf(search)),
    enabled: search.repository !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
  });

/** The holes that a catalog has: its parameters, switches and named graphs. */
export const catalogQuery = (digest: string | undefined) =>
  queryOptions({
    queryKey: ["catalog", digest],
    queryFn: ({ signal }) =>
      ask(CatalogDetail, `/catalogs/${encodeURIComponent(digest ?? "")}`, { signal }),
    enabled: digest !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });

export const branchesQuery = (repository: string | undefined) =>
  queryOptions({
    queryKey: ["branches", repository],
    queryFn: ({ signal }) =>
      ask(z.array(Branch), `/repositories/${encodeURIComponent(repository ?? "")}/branches`, {
        signal,
      }),
    enabled: repository !== undefined,
  });
