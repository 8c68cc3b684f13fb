import { queryOptions } from "@tanstack/react-query";
import { accessEndpoints } from "#api/endpoints/access-endpoints.ts";
import { call } from "../../farm/ask.ts";
import type { RightsSearch } from "./search.ts";

/** Who may do what at a place; without a repository, on the whole farm. */
export const placeRightsQuery = ({ repository = "", branch }: RightsSearch) =>
  queryOptions({
    queryKey: ["rights", "place", repository, branch],
    queryFn: ({ signal }) =>
      call(accessEndpoints.whoMay, { query: { repository, branch: branch || undefined } }, signal),
  });

/** What a principal may do. */
export const principalRightsQuery = (name: string) =>
  queryOptions({
    queryKey: ["rights", "principal", name],
    queryFn: ({ signal }) => call(accessEndpoints.rightsOf, { params: { name } }, signal),
  });
