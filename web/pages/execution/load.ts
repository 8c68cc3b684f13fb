import { queryOptions } from "@tanstack/react-query";
import { ExecutionDetail } from "#api/execution.ts";
import { TreeListing } from "#api/tree-listing.ts";
import { apiBase, ask } from "../../farm/ask.ts";

/** No stream tells how an execution goes; until it is over it is asked for so often. */
const refetchMs = 1_500;

export const executionQuery = (id: string) =>
  queryOptions({
    queryKey: ["execution", id],
    queryFn: ({ signal }) =>
      ask(ExecutionDetail, `/executions/${encodeURIComponent(id)}`, { signal }),
    refetchInterval: ({ state }) => (state.data?.state === "finished" ? false : refetchMs),
  });

export const executionLogUrl = (id: string, stream: "stdout" | "stderr") =>
  `${apiBase}/executions/${encodeURIComponent(id)}/log?stream=${stream}`;

export const treeQuery = (project: string, tree: string, isOpen: boolean) =>
  queryOptions({
    queryKey: ["tree", project, tree],
    queryFn: ({ signal }) =>
      ask(TreeListing, `/blobs/${tree}/tree?project=${encodeURIComponent(project)}`, { signal }),
    enabled: isOpen,
    // A tree is what it is called.
    staleTime: Number.POSITIVE_INFINITY,
  });
