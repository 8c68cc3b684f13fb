import type { BranchBody, ResolvedBranch } from "#api/branch.ts";

/** The name under which the definition of all branches is stored. */
export const allBranches = "*";

/**
 * Returns the definition of a branch: its own entry, completed with the values for all branches.
 *
 * Switches and parameters are inherited one by one. A branch whose own entry protects it does not become customisable
 * through the entry for all branches: its own entry has to allow that.
 */
export function resolveBranch(
  generic: BranchBody | undefined,
  own: BranchBody | undefined,
): ResolvedBranch {
  const isProtected = own?.protected ?? generic?.protected ?? false;
  const inherited = own?.protected === true ? undefined : generic?.customisable;
  return {
    protected: isProtected,
    customisable: own?.customisable ?? inherited ?? !isProtected,
    priorityCap: own?.priorityCap === undefined ? (generic?.priorityCap ?? null) : own.priorityCap,
    switches: { ...generic?.switches, ...own?.switches },
    parameters: { ...generic?.parameters, ...own?.parameters },
    source: own?.source ?? generic?.source ?? { kind: "commit" },
  };
}
