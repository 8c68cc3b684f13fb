import { queryOptions } from "@tanstack/react-query";
import { graphEndpoints } from "#api/endpoints/graph-endpoints.ts";
import { call } from "../../farm/ask.ts";

export const repositoriesQuery = queryOptions({
  queryKey: ["repositories"],
  queryFn: ({ signal }) => call(graphEndpoints.repositories, {}, signal),
});
