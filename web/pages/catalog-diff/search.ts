import { z } from "zod";

/** Two sides: a digest, a branch or a revision of the repository, or REPOSITORY@BRANCH. */
export const CatalogDiffSearch = z.object({
  repository: z.coerce.string().optional().catch(undefined),
  a: z.coerce.string().optional().catch(undefined),
  b: z.coerce.string().optional().catch(undefined),
});
export type CatalogDiffSearch = z.infer<typeof CatalogDiffSearch>;
