import { z } from "zod";

export const SizeClassKeySearch = z.object({
  project: z.coerce.string().optional().catch(undefined),
  domain: z.coerce.string().optional().catch(undefined),
});
export type SizeClassKeySearch = z.infer<typeof SizeClassKeySearch>;
