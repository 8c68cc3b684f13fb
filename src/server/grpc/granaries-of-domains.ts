import type { Principal } from "#access/principal.ts";
import { domainOfClient } from "#access/trust-domains/domain-of-client.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import { protectedDomain, type TrustDomain } from "#core/trust-domain.ts";
import type { Granaries } from "#granaries/open-granaries.ts";

/** Each may store filters of keys for a few seconds. Most farms have `protected` and a few other domains. */
const mostOthers = 16;

/** Returns the services for the granaries of a caller, by its trust domain. */
export type GranariesOf = (caller: Principal, project: string) => Granaries;

export function granariesOfDomains(open: (domain: TrustDomain) => Granaries): GranariesOf {
  const ofAll = open(protectedDomain);
  const others = recentlyUsed<Granaries>(mostOthers);
  return (caller, project) => {
    const domain = domainOfClient(caller, project);
    return domain === protectedDomain ? ofAll : others.get(domain, () => open(domain));
  };
}
