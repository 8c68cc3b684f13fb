import { queryOptions } from "@tanstack/react-query";
import { searchEndpoints } from "#api/endpoints/search-endpoints.ts";
import { call } from "../../farm/ask.ts";

/** How a job stands to the same job of other commits. */
export const coalescingQuery = (graph: string, job: string, version: number) =>
  queryOptions({
    queryKey: ["coalescing", graph, job, version],
    queryFn: ({ signal }) =>
      call(searchEndpoints.jobCoalescing, { params: { graph, job } }, signal),
  });
