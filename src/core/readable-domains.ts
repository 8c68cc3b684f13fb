import { protectedDomain, type TrustDomain } from "./trust-domain.ts";

/**
 * The domains whose results may serve a run in this domain, in the order of asking.
 *
 * A pull request and a user read their own, then `protected`. `protected` reads
 * nothing but itself: what an untrusted run wrote never reaches a trusted one (P7).
 */
export function readableDomains(domain: TrustDomain): readonly TrustDomain[] {
  return domain === protectedDomain ? [domain] : [domain, protectedDomain];
}
