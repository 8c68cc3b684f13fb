import { z } from "zod";

export const TargetSearch = z.object({
  /** The target's name, such as `//lib:test`. */
  label: z.coerce.string().optional().catch(undefined),
  /** `default` when absent. */
  project: z.coerce.string().optional().catch(undefined),
});
export type TargetSearch = z.infer<typeof TargetSearch>;
