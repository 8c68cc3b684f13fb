import { z } from "zod";

/** Written out, because the first script parses all addresses and does not contain the schemas of answers. */
export const graphStates = ["running", "succeeded", "failed", "cancelled"] as const;

/** The filters of a repository's grid, as in the page's address. */
export const RepositorySearch = z.object({
  author: z.coerce.string().max(200).optional().catch(undefined),
  branch: z.coerce.string().max(300).optional().catch(undefined),
  state: z.enum(graphStates).optional().catch(undefined),
  text: z.coerce.string().max(200).optional().catch(undefined),
  /** A file or a directory that the commits change. */
  path: z.coerce.string().max(2_100).optional().catch(undefined),
});
export type RepositorySearch = z.infer<typeof RepositorySearch>;
