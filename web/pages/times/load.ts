import { queryOptions } from "@tanstack/react-query";
import { z } from "zod";
import { Times, TimesGrouping } from "#api/times.ts";
import { ask } from "../../farm/ask.ts";

export const windows = { "1d": "a day", "7d": "a week", "30d": "30 days" } as const;
export type TimeWindow = keyof typeof windows;

/** What a link to the times says: of what, apart by what, over how long. */
export const TimesSearch = z.object({
  repository: z.coerce.string().optional().catch(undefined),
  branch: z.coerce.string().optional().catch(undefined),
  group: TimesGrouping.optional().catch(undefined),
  window: z.enum(["1d", "7d", "30d"]).optional().catch(undefined),
});
export type TimesSearch = z.infer<typeof TimesSearch>;

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
