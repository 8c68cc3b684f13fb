import { BranchName } from "#api/branch-name.ts";
import { Fault } from "#core/fault.ts";
import { allBranches } from "./branch-definition.ts";

/**
 * Throws `invalid_argument` for a name that no graph's branch can have, because its entry would never apply.
 *
 * `*` stands for all branches.
 */
export function requireBranchName(written: string): void {
  if (written === allBranches) return;
  const bare = written.replace(/^(refs\/)?heads\//, "");
  const problem = written === "" ? "names no branch" : problemOf(written);
  if (problem === undefined) return;
  const isMeant = bare !== written && bare !== "" && problemOf(bare) === undefined;
  const advice = isMeant ? `; did you mean "${bare}"?` : "";
  throw new Fault("invalid_argument", `"${written.slice(0, 200)}" ${problem}${advice}`);
}

function problemOf(written: string): string | undefined {
  return BranchName.safeParse(written).error?.issues[0]?.message;
}
