import type { Principal } from "#access/principal.ts";
import { requireGrantSomewhere } from "#access/require-grant.ts";
import type { BranchCatalog, NextDefinitions, ResolvedBranch } from "#api/branch.ts";
import { Fault } from "#core/fault.ts";
import {
  type CatalogServices,
  type GraphDefinitions,
  graphDefinitions,
} from "./graph-definitions.ts";
import { addressOfRepository } from "./known-repository.store.ts";

/** A branch of a repository by name, and what holds on it. */
interface BranchPlace {
  readonly repository: string;
  readonly branch: string;
  readonly said: ResolvedBranch;
}

/**
 * Reads the definitions that the next submission for a branch uses, from wherever its source is now.
 *
 * They are stored, so that their digest can be looked up. Throws `permission_denied` where they must be fetched, or read
 * from the server's machine, and the principal may submit nowhere; else what reading them throws.
 */
export async function definitionsOfBranch(
  services: CatalogServices,
  place: BranchPlace,
  by: Principal,
): Promise<GraphDefinitions> {
  const { kind } = place.said.source;
  if (kind !== "pushed") requireGrantSomewhere(by, "submit");
  const commit = kind === "commit" ? await headOf(services, place, by) : undefined;
  const from = await graphDefinitions(services, { ...place, commit, by }, {});
  await services.db.transaction((tx) => from.keep(tx));
  return from;
}

async function headOf(
  services: CatalogServices,
  { repository, branch }: BranchPlace,
  by: Principal,
) {
  const address = await addressOfRepository(services.db, repository);
  await services.access.requireMayRead(by, address);
  return services.mirrors.fetchCommit(address, branch);
}

/** The same as a branch shows it: where they cannot be had, why. */
export async function nextDefinitions(
  services: CatalogServices,
  place: BranchPlace,
  by: Principal,
): Promise<NextDefinitions> {
  try {
    const { catalog, commit } = await definitionsOfBranch(services, place, by);
    return { catalog: catalog.digest, commit: commit ?? null, problem: null };
  } catch (reason) {
    if (!(reason instanceof Fault)) throw reason;
    return { catalog: null, commit: null, problem: reason.message };
  }
}

/**
 * What can be said without fetching anything of a branch whose commits have the definitions: those of the last commit
 * that a graph was made of. What was pushed meanwhile is not used there.
 */
export function lastDefinitions(current: BranchCatalog | undefined): NextDefinitions {
  const known = current?.commit === null ? undefined : current;
  return { catalog: known?.catalog ?? null, commit: known?.commit ?? null, problem: null };
}
