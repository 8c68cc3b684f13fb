import { z } from "zod";

/** Which branch is shown whole; `*` is what all inherit. */
export const BranchesSearch = z.object({
  branch: z.coerce.string().optional().catch(undefined),
});
export type BranchesSearch = z.infer<typeof BranchesSearch>;
