import { z } from "zod";

export const SignInSearch = z.object({
  /** Where to go then. */
  to: z.string().optional().catch(undefined),
});
