import { queryOptions } from "@tanstack/react-query";
import { shareEndpoints } from "#api/endpoints/share-endpoints.ts";
import { call } from "../../farm/ask.ts";

/** The links of the reader; for who administers the farm, all. */
export const shareLinksQuery = queryOptions({
  queryKey: ["share-links"],
  queryFn: ({ signal }) => call(shareEndpoints.shareLinks, {}, signal),
});
