import { z } from "zod";

export const views = ["graph", "matrix", "list"] as const;
export type View = (typeof views)[number];

/** The state of a graph's page in its address: every view can be sent as a link. */
export const GraphSearch = z.object({
  view: z.enum(views).optional().catch(undefined),
  /** Job states, separated by commas. */
  state: z.string().optional().catch(undefined),
  // The router reads `?q=12` as a number.
  q: z.coerce.string().optional().catch(undefined),
  job: z.coerce.string().optional().catch(undefined),
});
export type GraphSearch = z.infer<typeof GraphSearch>;
