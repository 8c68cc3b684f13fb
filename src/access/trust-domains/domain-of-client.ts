import { protectedDomain, type TrustDomain } from "#core/trust-domain.ts";
import { mayWriteBlobs } from "../blob-writes/may-write.ts";
import { anyone, type Principal } from "../principal.ts";
import { mayDo, requireGrant } from "../require-grant.ts";
import { domainOfUser } from "./domain-for.ts";

/**
 * Returns the trust domain in which a build tool, a cache client or a granary reads and writes.
 *
 * The holder of `cache` for the project writes into `protected`, which all read. Each other caller has its own domain,
 * and reads its own and `protected`. The token of a run has the domain of the run.
 */
export function domainOfClient(by: Principal, project: string): TrustDomain {
  if (by.domain !== undefined) return by.domain;
  return mayDo(by, "cache", { repository: project, branch: "" })
    ? protectedDomain
    : domainOfUser(by.name);
}

/**
 * Returns whether a client may store results, in its own domain or in `protected`. A caller without a name has no
 * domain, and a caller that may not put blobs into the project has no blobs that a result could name.
 */
export function mayKeep(by: Principal, project: string): boolean {
  if (mayDo(by, "cache", { repository: project, branch: "" })) return true;
  return by.name !== anyone && mayWriteBlobs(by, project);
}

/** Throws `permission_denied` for principals without the right. */
export function requireMayKeep(by: Principal, project: string): void {
  if (!mayKeep(by, project)) requireGrant(by, "cache", { repository: project, branch: "" });
}
