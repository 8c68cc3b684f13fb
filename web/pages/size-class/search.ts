import { z } from "zod";

export const SizeClassSearch = z.object({
  /** Required when several platforms have the class. */
  platform: z.coerce.string().optional().catch(undefined),
});
export type SizeClassSearch = z.infer<typeof SizeClassSearch>;
