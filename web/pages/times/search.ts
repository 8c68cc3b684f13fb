import { z } from "zod";
import type { TimesGrouping } from "#api/times.ts";

export const windows = { "1d": "a day", "7d": "a week", "30d": "30 days" } as const;
export type TimeWindow = keyof typeof windows;

/** Written out, because the first script parses all addresses and does not contain the schemas of answers. */
export const groupings = ["branch", "pool", "kind"] as const satisfies readonly TimesGrouping[];

/** The content of a link to the times: the subject, the grouping, and the period. */
export const TimesSearch = z.object({
  repository: z.coerce.string().optional().catch(undefined),
  branch: z.coerce.string().optional().catch(undefined),
  group: z.enum(groupings).optional().catch(undefined),
  window: z.enum(["1d", "7d", "30d"]).optional().catch(undefined),
});
export type TimesSearch = z.infer<typeof TimesSearch>;
