import { Fault } from "#core/fault.ts";
import type { JobRights } from "#core/job-rights.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { FarmKey } from "../farm-key.ts";
import type { Principal } from "../principal.ts";
import { credentialInHeader } from "../token-in-header.ts";
import { isJobTokenShaped, leaseInToken } from "./job-token.ts";

/** A run that is leased to a worker now. */
export interface LeasedRun {
  readonly executionId: string;
  readonly attempt: number;
  readonly epoch: number;
  readonly domain: TrustDomain;
  readonly rights: JobRights;
}

/** Returns the run whose execution is leased now and not cancelled; undefined for all others. */
type FindLeasedRun = (executionId: string) => Promise<LeasedRun | undefined>;

/**
 * Returns the run behind an `Authorization` header; undefined if the header has no token of a run.
 *
 * Throws `unauthenticated` for a token of a run that has ended, and for one that this farm did not sign.
 */
export async function runOfToken(
  parts: { readonly key: Pick<FarmKey, "id" | "verify">; readonly find: FindLeasedRun },
  authorization: string | undefined,
): Promise<LeasedRun | undefined> {
  const token = authorization === undefined ? undefined : credentialInHeader(authorization);
  if (token === undefined || !isJobTokenShaped(token)) return undefined;
  const lease = leaseInToken(parts.key, token);
  const run = lease && (await parts.find(lease.executionId));
  if (run !== undefined && run.epoch === lease?.epoch) return run;
  throw new Fault(
    "unauthenticated",
    lease === undefined
      ? "this is not a job token of this farm; $GRANGE_JOB_TOKEN contains the token of this run"
      : "this job token is no longer valid, because its run has ended",
  );
}

/**
 * Returns the principal with which a run uses caches of build tools: `cache` on one project, in the domain of the run.
 * Without that right, it may do nothing.
 */
export function cachePrincipalOf({ domain, rights }: LeasedRun): Principal {
  const { caches } = rights;
  const name = `job in ${domain}`;
  // A name with a star would be a pattern for other projects.
  if (caches === undefined || caches.includes("*")) return { name, grants: [], domain };
  const grant = { verb: "cache", branch: "", priorityCap: null, top: false } as const;
  return { name, domain, grants: [{ ...grant, repository: caches }] };
}
