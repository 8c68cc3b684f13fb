import { queryOptions } from "@tanstack/react-query";
import { serverEndpoints } from "#api/endpoints/server-endpoints.ts";
import { call } from "../../farm/ask.ts";

export const overviewQuery = queryOptions({
  queryKey: ["overview"],
  queryFn: ({ signal }) => call(serverEndpoints.overview, {}, signal),
  // Graphs are followed by their stream; workers and the store have none here.
  refetchInterval: 30_000,
});
