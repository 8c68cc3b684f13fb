import { z } from "zod";

export const groupings = ["week", "graph"] as const;

/** The numbers of weeks and of graphs that the page offers; the first is the default. */
export const choices = { week: [12, 26, 52], graph: [30, 60, 100] } as const;

export const TrendsSearch = z.object({
  by: z.enum(groupings).optional().catch(undefined),
  /** How many weeks or graphs. */
  last: z.coerce.number().int().min(2).max(100).optional().catch(undefined),
  branch: z.coerce.string().max(300).optional().catch(undefined),
  text: z.coerce.string().max(200).optional().catch(undefined),
});
export type TrendsSearch = z.infer<typeof TrendsSearch>;
