import { z } from "zod";

export const SizeClassesSearch = z.object({
  /** A part of a key's title, or a prefix of the key. */
  find: z.coerce.string().optional().catch(undefined),
});
export type SizeClassesSearch = z.infer<typeof SizeClassesSearch>;
