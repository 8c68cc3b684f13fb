import { queryOptions } from "@tanstack/react-query";
import { pathOfCall } from "#api/endpoint.ts";
import { executionEndpoints } from "#api/endpoints/execution-endpoints.ts";
import { apiBase, call } from "../../farm/ask.ts";

/** No stream reports the progress of an execution; until its end it is requested this often. */
const refetchMs = 1_500;

export const executionQuery = (id: string) =>
  queryOptions({
    queryKey: ["execution", id],
    queryFn: ({ signal }) =>
      call(executionEndpoints.execution, { params: { execution: id } }, signal),
    refetchInterval: ({ state }) => (state.data?.state === "finished" ? false : refetchMs),
  });

export const executionLogUrl = (id: string, stream: "stdout" | "stderr") =>
  apiBase + pathOfCall(executionEndpoints.executionLog, { execution: id }, { stream });

export const treeQuery = (project: string, tree: string, isOpen: boolean) =>
  queryOptions({
    queryKey: ["tree", project, tree],
    queryFn: ({ signal }) => {
      const [hash = "", size = ""] = tree.split("/");
      return call(
        executionEndpoints.blobTree,
        { params: { hash, size }, query: { project } },
        signal,
      );
    },
    enabled: isOpen,
    // A tree's name is its digest, so it never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });
