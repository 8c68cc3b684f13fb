import { queryOptions } from "@tanstack/react-query";
import { jobEndpoints } from "#api/endpoints/job-endpoints.ts";
import { call } from "../../farm/ask.ts";
import { choices, type TrendsSearch } from "./search.ts";

export const trendsQuery = (repository: string, search: TrendsSearch) => {
  const { by = "week", branch, text } = search;
  const last = search.last ?? choices[by][0];
  return queryOptions({
    queryKey: ["job-trends", repository, by, last, branch, text],
    queryFn: ({ signal }) =>
      call(jobEndpoints.jobTrends, { query: { repository, by, last, branch, text } }, signal),
  });
};
