import { queryOptions } from "@tanstack/react-query";
import { workerEndpoints } from "#api/endpoints/worker-endpoints.ts";
import { call } from "../../farm/ask.ts";

export const workersQuery = queryOptions({
  queryKey: ["workers"],
  queryFn: ({ signal }) => call(workerEndpoints.workers, {}, signal),
});
