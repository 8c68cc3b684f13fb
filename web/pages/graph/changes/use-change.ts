import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { PlannedChange } from "#api/rerun.ts";
import { tell } from "../../../farm/ask.ts";
import { readGraphAgain } from "../load.ts";
import { bodyOf, type RequestedChange } from "./requested-change.ts";

/**
 * Returns the effect of a change, and the function that makes exactly this change.
 *
 * The farm identifies the list with a token. It refuses the change if the list has become different while the user read
 * it; the list is then requested again.
 */
export function useChange(graphId: string, change: RequestedChange, isOpen: boolean) {
  const client = useQueryClient();
  const body = bodyOf(change);
  const path = `/graphs/${encodeURIComponent(graphId)}/${change.verb}`;
  const preview = useQuery({
    queryKey: ["change", path, body],
    queryFn: () => tell(PlannedChange, path, { ...body, dryRun: true }),
    enabled: isOpen,
    // Kept until the next list arrives, because a dialog that jumps is hard to read.
    placeholderData: keepPreviousData,
    // An old list may not be the effect of the change now.
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
  const apply = useMutation({
    mutationFn: (token: string) => tell(PlannedChange, path, { ...body, token }),
    onSuccess: () => readGraphAgain(client, graphId),
    onError: () => preview.refetch(),
  });
  return { preview, apply };
}
