import { queryOptions } from "@tanstack/react-query";
import { flakyEndpoints } from "#api/endpoints/flaky-endpoints.ts";
import { call } from "../../farm/ask.ts";
import { defaultDays, type FlakySearch } from "./search.ts";

export const flakyQuery = ({ repository, days = defaultDays }: FlakySearch) =>
  queryOptions({
    queryKey: ["flaky", repository, days],
    queryFn: ({ signal }) => call(flakyEndpoints.flaky, { query: { repository, days } }, signal),
  });
