import { z } from "zod";

export const views = ["graph", "matrix", "list"] as const;
export type View = (typeof views)[number];

/** What a link to a graph says besides which graph: all that can be seen can be sent. */
export const GraphSearch = z.object({
  view: z.enum(views).optional().catch(undefined),
  /** Job states, with commas. */
  state: z.string().optional().catch(undefined),
  // The router reads `?q=12` as a number.
  q: z.coerce.string().optional().catch(undefined),
  job: z.coerce.string().optional().catch(undefined),
});
export type GraphSearch = z.infer<typeof GraphSearch>;
