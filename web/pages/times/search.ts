import { z } from "zod";
import type { TimesGrouping } from "#api/times.ts";

export const windows = { "1d": "a day", "7d": "a week", "30d": "30 days" } as const;
export type TimeWindow = keyof typeof windows;

/** Written out: all addresses are read by the first script, which has no answers' shapes in it. */
export const groupings = ["branch", "pool", "kind"] as const satisfies readonly TimesGrouping[];

/** What a link to the times says: of what, apart by what, over how long. */
export const TimesSearch = z.object({
  repository: z.coerce.string().optional().catch(undefined),
  branch: z.coerce.string().optional().catch(undefined),
  group: z.enum(groupings).optional().catch(undefined),
  window: z.enum(["1d", "7d", "30d"]).optional().catch(undefined),
});
export type TimesSearch = z.infer<typeof TimesSearch>;
