import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { PlannedChange } from "#api/rerun.ts";
import { tell } from "../../../farm/ask.ts";
import { graphQuery } from "../load.ts";
import { bodyOf, type RequestedChange } from "./requested-change.ts";

/**
 * What a change would do, and the button that does exactly that.
 *
 * The farm names the list with a token. It refuses when, by the time somebody has read
 * the list, it would be another one; the list is then asked for again.
 */
export function useChange(graphId: string, change: RequestedChange, isOpen: boolean) {
  const client = useQueryClient();
  const body = bodyOf(change);
  const path = `/graphs/${encodeURIComponent(graphId)}/${change.verb}`;
  const preview = useQuery({
    queryKey: ["change", path, body],
    queryFn: () => tell(PlannedChange, path, { ...body, dryRun: true }),
    enabled: isOpen,
    // Kept while the next list comes: a dialog that jumps is hard to read.
    placeholderData: keepPreviousData,
    // A list that was read a minute ago is not what would happen now.
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
  const apply = useMutation({
    mutationFn: (token: string) => tell(PlannedChange, path, { ...body, token }),
    onSuccess: () => client.invalidateQueries(graphQuery(graphId)),
    onError: () => preview.refetch(),
  });
  return { preview, apply };
}
