import { z } from "zod";

/** The branch that is shown in detail; `*` is the entry that all inherit. */
export const BranchesSearch = z.object({
  branch: z.coerce.string().optional().catch(undefined),
});
export type BranchesSearch = z.infer<typeof BranchesSearch>;
