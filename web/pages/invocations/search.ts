import { z } from "zod";

export const InvocationsSearch = z.object({
  project: z.coerce.string().optional().catch(undefined),
  commit: z.coerce.string().optional().catch(undefined),
  /** A part of a row's text. */
  find: z.coerce.string().optional().catch(undefined),
});
export type InvocationsSearch = z.infer<typeof InvocationsSearch>;
