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

/** A branch of a repository, with its settings. */
interface BranchPlace {
  readonly repository: string;
  readonly branch: string;
  readonly said: ResolvedBranch;
}

/**
 * Reads the definitions that the next submission for a branch uses, from its present source.
 *
 * They are stored, so that their digest can be looked up. Throws `permission_denied` when they must be fetched, or read
 * from the server's machine, and the principal may not submit anywhere; otherwise the errors of reading them.
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

/** The same for a branch's page: with the reason when they cannot be read. */
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
 * Returns, without fetching, the definitions of a branch whose commits contain them: those of the last commit with a
 * graph. Definitions that were pushed since are ignored.
 */
export function lastDefinitions(current: BranchCatalog | undefined): NextDefinitions {
  const known = current?.commit === null ? undefined : current;
  return { catalog: known?.catalog ?? null, commit: known?.commit ?? null, problem: null };
}
