import { queryOptions } from "@tanstack/react-query";
import { rerunEndpoints } from "#api/endpoints/rerun-endpoints.ts";
import { call } from "../../farm/ask.ts";

export const setQuery = (id: string) =>
  queryOptions({
    queryKey: ["set", id],
    queryFn: ({ signal }) => call(rerunEndpoints.graphSet, { params: { set: id } }, signal),
  });
