import { z } from "zod";
import { InvocationActionState } from "#api/invocation.ts";

export const invocationViews = ["actions", "targets", "log", "timing", "cache", "options"] as const;
export type InvocationView = (typeof invocationViews)[number];

export const InvocationSearch = z.object({
  /** `default` when absent. */
  project: z.coerce.string().optional().catch(undefined),
  view: z.enum(invocationViews).optional().catch(undefined),
  state: InvocationActionState.optional().catch(undefined),
  /** Whether actions from the cache are listed among the others. */
  hits: z.enum(["shown"]).optional().catch(undefined),
  /** For actions, a part of the target or the mnemonic; for the log, the search text. */
  find: z.coerce.string().optional().catch(undefined),
  line: z.coerce.number().int().positive().optional().catch(undefined),
});
export type InvocationSearch = z.infer<typeof InvocationSearch>;
