import { z } from "zod";

/** Two sides: a digest, REPOSITORY@BRANCH, or a revision. */
export const CatalogDiffSearch = z.object({
  a: z.coerce.string().optional().catch(undefined),
  b: z.coerce.string().optional().catch(undefined),
});
export type CatalogDiffSearch = z.infer<typeof CatalogDiffSearch>;
