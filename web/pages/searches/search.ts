import { z } from "zod";

/** Of which repository; and the form of a new search, filled in so far. */
export const SearchesSearch = z.object({
  repository: z.coerce.string().optional().catch(undefined),
  kind: z.enum(["backfill", "bisect"]).optional().catch(undefined),
  selection: z.coerce.string().optional().catch(undefined),
  from: z.coerce.string().optional().catch(undefined),
  to: z.coerce.string().optional().catch(undefined),
});
export type SearchesSearch = z.infer<typeof SearchesSearch>;
