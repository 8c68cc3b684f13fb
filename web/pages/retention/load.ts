import { queryOptions } from "@tanstack/react-query";
import { retentionEndpoints } from "#api/endpoints/retention-endpoints.ts";
import { call } from "../../farm/ask.ts";

export const retentionQuery = queryOptions({
  queryKey: ["retention"],
  queryFn: ({ signal }) => call(retentionEndpoints.retention, {}, signal),
});
