import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { rerunEndpoints } from "#api/endpoints/rerun-endpoints.ts";
import type { Customise } from "#api/rerun.ts";
import { call } from "../../farm/ask.ts";
import { readGraphAgain } from "../graph/load.ts";

/** Returns the effect of a changed definition, and the function that applies it. */
export function useCustomising(graph: string, asked: Customise | undefined) {
  const client = useQueryClient();
  const params = { graph };
  const preview = useQuery({
    queryKey: ["customise", graph, asked],
    queryFn: () =>
      asked === undefined
        ? Promise.reject(new Error("nothing was changed"))
        : call(rerunEndpoints.customise, { params, body: { ...asked, dryRun: true } }),
    enabled: asked !== undefined,
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
  const apply = useMutation({
    mutationFn: (wanted: Customise) => call(rerunEndpoints.customise, { params, body: wanted }),
    // Also after a refusal, because another user may have changed the job.
    onSettled: () => readGraphAgain(client, graph),
  });
  return { preview, apply };
}
