import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { catalogEndpoints } from "#api/endpoints/catalog-endpoints.ts";
import type { GraphPreview, PreviewGraph } from "#api/preview.ts";
import type { SubmitGraph } from "#api/submit-graph.ts";
import { call } from "../../farm/ask.ts";
import type { NewGraphSearch } from "./search.ts";

/** Returns the choice in the form of the API. */
function choiceOf(search: NewGraphSearch): PreviewGraph {
  const { repository, rev, catalog, graph, select, definitionsFrom, patches } = search;
  return {
    parameters: search.parameters ?? {},
    switches: search.switches ?? {},
    ...(repository === undefined ? {} : { repository }),
    ...(rev === undefined ? {} : { rev }),
    ...(catalog === undefined ? {} : { catalog }),
    ...(graph === undefined ? {} : { graph }),
    ...(select === undefined ? {} : { select }),
    ...(definitionsFrom === undefined ? {} : { definitionsFrom }),
    ...(patches === undefined ? {} : { patches }),
  };
}

/**
 * Returns the submission that equals the preview: the definitions by their digest, whatever their source, at that
 * commit.
 */
export function submissionOf(
  search: NewGraphSearch,
  preview: GraphPreview,
  id: string,
): SubmitGraph {
  const { definitionsFrom: _, ...choice } = choiceOf(search);
  const { set, priority, ttl, repository = "" } = search;
  return {
    ...choice,
    id,
    repository,
    catalog: preview.catalog,
    ...(set === undefined ? {} : { set }),
    ...(priority === undefined ? {} : { priority }),
    ...(ttl === undefined ? {} : { ttl }),
    ...(preview.commit === null ? {} : { rev: preview.commit }),
    ...(preview.branch === "" ? {} : { branch: preview.branch }),
  };
}

export const previewQuery = (search: NewGraphSearch) =>
  queryOptions({
    queryKey: ["preview", choiceOf(search)],
    queryFn: () => call(catalogEndpoints.previewGraph, { body: choiceOf(search) }),
    enabled: search.repository !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
  });

/** Returns the placeholders of a catalog: its parameters, switches and named graphs. */
export const catalogQuery = (digest: string | undefined) =>
  queryOptions({
    queryKey: ["catalog", digest],
    queryFn: ({ signal }) =>
      call(catalogEndpoints.catalog, { params: { digest: digest ?? "" } }, signal),
    enabled: digest !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
