import type { Tx } from "#db/db.ts";
import { branchDefinition } from "./branch-definition.store.ts";
import { knownRepository } from "./known-repository.store.ts";

/** Whether a branch is protected, of a repository by its name or address; none that the farm does not know is. */
export async function isProtectedBranch(
  tx: Tx,
  repository: string,
  branch: string,
): Promise<boolean> {
  const name = await knownRepository(tx, repository);
  return name !== undefined && (await branchDefinition(tx, name, branch)).protected;
}
