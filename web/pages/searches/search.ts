import { z } from "zod";

/** The repository, and the present content of the form for a new search. */
export const SearchesSearch = z.object({
  repository: z.coerce.string().optional().catch(undefined),
  kind: z.enum(["backfill", "bisect"]).optional().catch(undefined),
  selection: z.coerce.string().optional().catch(undefined),
  from: z.coerce.string().optional().catch(undefined),
  to: z.coerce.string().optional().catch(undefined),
});
export type SearchesSearch = z.infer<typeof SearchesSearch>;
