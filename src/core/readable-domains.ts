import { protectedDomain, type TrustDomain } from "./trust-domain.ts";

/**
 * Returns the domains whose results may serve a run in this domain, in the order of lookup.
 *
 * A pull request and a user read their own domain, then `protected`. `protected` reads only itself: a trusted run never
 * reads what an untrusted run wrote (P7).
 */
export function readableDomains(domain: TrustDomain): readonly TrustDomain[] {
  return domain === protectedDomain ? [domain] : [domain, protectedDomain];
}
