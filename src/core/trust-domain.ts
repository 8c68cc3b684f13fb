import { z } from "zod";

/**
 * Who may write what a build will read: `protected`, `pr/N` or `user/NAME`.
 *
 * The server derives it from repository and ref; no client names it.
 */
export const TrustDomain = z
  .string()
  .regex(/^(protected|pr\/\d+|user\/[A-Za-z0-9._-]{1,64})$/)
  .brand<"TrustDomain">();
export type TrustDomain = z.infer<typeof TrustDomain>;

export const protectedDomain: TrustDomain = TrustDomain.parse("protected");
