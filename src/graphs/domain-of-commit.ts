import type { Principal } from "#access/principal.ts";
import { type CommitStanding, domainFor } from "#access/trust-domains/domain-for.ts";
import { pullOfRef } from "#access/trust-domains/pull-of-ref.ts";
import { Fault } from "#core/fault.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { FetchedCommit, Mirrors } from "#git/fetch-commit.ts";
import { isAncestor } from "#git/is-ancestor.ts";
import type { Git } from "#git/run-git.ts";

export interface WitnessServices {
  readonly git: Git;
  readonly mirrors: Mirrors;
  /**
   * Whether a forge watches the repository and knows the commits of its branches. No repository is watched when absent.
   */
  readonly isWatched?: (repository: string) => Promise<boolean>;
  /** Returns the address of a repository with the farm's credential for it. */
  readonly addressWithCredential?: (address: string, by: Principal) => Promise<string>;
}

/** A commit to build, with its repository and branch. */
interface WantedCommit {
  readonly commit: FetchedCommit;
  /** The fetched address; it may contain a password. */
  readonly address: string;
  /** The repository by its name on the farm. */
  readonly repository: string;
  readonly branch: string;
  /** The ref by which the farm itself found the commit: then the submitter's statement need not be checked. */
  readonly ref?: string | undefined;
  readonly by: Principal;
}

/** Returns the trust domain of a commit's graph. For a watched repository it may look up the branch there. */
export async function domainOfCommit(
  services: WitnessServices,
  wanted: WantedCommit,
): Promise<TrustDomain> {
  const { repository, branch, by } = wanted;
  const ref = wanted.ref ?? wanted.commit.ref;
  const isPull = ref !== undefined && pullOfRef(ref) !== undefined;
  const onBranch = isPull ? "not seen" : await standingOf(services, wanted);
  return domainFor({ repository, branch, ref, onBranch, by });
}

async function standingOf(
  services: WitnessServices,
  { commit, address, repository, branch, ref }: WantedCommit,
): Promise<CommitStanding["onBranch"]> {
  const full = branch === "" ? commit.ref : `refs/heads/${branch}`;
  if (ref !== undefined) return branch === "" || ref === full ? "seen" : "not seen";
  if ((await services.isWatched?.(repository)) !== true) return "nobody watches";
  if (full === undefined) return "not seen";
  // It was requested by this full name, and found there.
  if (commit.ref === full) return "seen";
  return (await isOn(services, address, full, commit)) ? "seen" : "not seen";
}

async function isOn(
  { git, mirrors }: WitnessServices,
  address: string,
  ref: string,
  commit: FetchedCommit,
): Promise<boolean> {
  try {
    const head = await mirrors.fetchCommit(address, ref);
    return await isAncestor(git, head.mirror, commit.sha, head.sha);
  } catch (reason) {
    // The repository has no such branch.
    if (reason instanceof Fault && reason.code === "not_found") return false;
    throw reason;
  }
}
