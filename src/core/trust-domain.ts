import { z } from "zod";

/**
 * A trust domain decides which clients may write results that a build will read: `protected`, `pr/N` or `user/NAME`.
 *
 * The server derives it from repository and ref; no client names it. The domain of a pull request names its repository,
 * `pr/7@owner/name`: pull request 7 of another repository has another domain.
 */
export const TrustDomain = z
  .string()
  .regex(/^(protected|pr\/\d+(@[A-Za-z0-9._/-]{1,200})?|user\/[A-Za-z0-9._@+:-]{1,64})$/)
  .brand<"TrustDomain">();
export type TrustDomain = z.infer<typeof TrustDomain>;

export const protectedDomain: TrustDomain = TrustDomain.parse("protected");

/** Returns whether it is the domain of a pull request. */
export function isOfPullRequest(domain: TrustDomain): boolean {
  return domain.startsWith("pr/");
}
