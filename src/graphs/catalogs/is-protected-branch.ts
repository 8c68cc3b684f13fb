import type { Tx } from "#db/db.ts";
import { branchDefinition } from "./branch-definition.store.ts";
import { knownRepository } from "./known-repository.store.ts";

/** Returns whether a branch of a repository (name or address) is protected; false for unknown repositories. */
export async function isProtectedBranch(
  tx: Tx,
  repository: string,
  branch: string,
): Promise<boolean> {
  const name = await knownRepository(tx, repository);
  return name !== undefined && (await branchDefinition(tx, name, branch)).protected;
}
