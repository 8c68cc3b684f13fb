import { protectedDomain, type TrustDomain } from "#core/trust-domain.ts";
import { mayWriteBlobs } from "../blob-writes/may-write.ts";
import { anyone, type Principal } from "../principal.ts";
import { mayDo, requireGrant } from "../require-grant.ts";
import { domainOfUser } from "./domain-for.ts";

/**
 * The domain that a build tool, a client of a cache or a granary reads and writes in.
 *
 * Who holds `cache` at the project writes what all read. Others have a domain of their own, and read both.
 */
export function domainOfClient(by: Principal, project: string): TrustDomain {
  return mayDo(by, "cache", { repository: project, branch: "" })
    ? protectedDomain
    : domainOfUser(by.name);
}

/**
 * Whether a client may keep results, be it for itself alone. Without a name there is nobody to keep them for; and who
 * may not put blobs into the project has none that a result could name.
 */
export function mayKeep(by: Principal, project: string): boolean {
  if (mayDo(by, "cache", { repository: project, branch: "" })) return true;
  return by.name !== anyone && mayWriteBlobs(by, project);
}

/** Throws `permission_denied` for who may not. */
export function requireMayKeep(by: Principal, project: string): void {
  if (!mayKeep(by, project)) requireGrant(by, "cache", { repository: project, branch: "" });
}
