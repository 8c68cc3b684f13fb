import { z } from "zod";

export const SignInSearch = z.object({
  /** The target after sign-in. */
  to: z.string().optional().catch(undefined),
});
