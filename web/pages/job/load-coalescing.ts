import { queryOptions } from "@tanstack/react-query";
import { JobCoalescing } from "#api/coalescing.ts";
import { ask } from "../../farm/ask.ts";

/** How a job stands to the same job of other commits. */
export const coalescingQuery = (graph: string, job: string, version: number) =>
  queryOptions({
    queryKey: ["coalescing", graph, job, version],
    queryFn: ({ signal }) =>
      ask(
        JobCoalescing,
        `/graphs/${encodeURIComponent(graph)}/jobs/${encodeURIComponent(job)}/coalescing`,
        { signal },
      ),
  });
