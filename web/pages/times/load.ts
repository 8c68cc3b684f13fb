import { queryOptions } from "@tanstack/react-query";
import { timesEndpoints } from "#api/endpoints/times-endpoints.ts";
import { call } from "../../farm/ask.ts";
import type { TimesSearch } from "./search.ts";

export const timesQuery = (search: TimesSearch) => {
  const query = {
    group: search.group ?? "kind",
    window: search.window ?? "7d",
    ...(search.repository === undefined ? {} : { repository: search.repository }),
    ...(search.branch === undefined ? {} : { branch: search.branch }),
  };
  return queryOptions({
    queryKey: ["times", query],
    queryFn: ({ signal }) => call(timesEndpoints.times, { query }, signal),
    refetchInterval: 30_000,
  });
};
