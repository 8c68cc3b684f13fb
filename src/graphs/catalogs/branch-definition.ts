import type { BranchBody, ResolvedBranch } from "#api/branch.ts";

/** The name under which the definition of all branches is kept. */
export const allBranches = "*";

/**
 * What holds on a branch: what is said of it, and else what is said of all.
 *
 * Switches and parameters are inherited one by one. A branch that protects itself is not
 * customisable because all branches are: it has to say so in the same breath.
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
