import { queryOptions } from "@tanstack/react-query";
import { Times } from "#api/times.ts";
import { ask } from "../../farm/ask.ts";
import type { TimesSearch } from "./search.ts";

export const timesQuery = (search: TimesSearch) => {
  const asked = new URLSearchParams({
    group: search.group ?? "kind",
    window: search.window ?? "7d",
    ...(search.repository === undefined ? {} : { repository: search.repository }),
    ...(search.branch === undefined ? {} : { branch: search.branch }),
  });
  return queryOptions({
    queryKey: ["times", asked.toString()],
    queryFn: ({ signal }) => ask(Times, `/times?${asked}`, { signal }),
    refetchInterval: 30_000,
  });
};
