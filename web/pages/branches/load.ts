import { queryOptions } from "@tanstack/react-query";
import { z } from "zod";
import { Branch, type BranchBody } from "#api/branch.ts";
import { ask, tell } from "../../farm/ask.ts";

const path = (repository: string) => `/repositories/${encodeURIComponent(repository)}/branches`;

/** What is said of a repository's branches: of all as `*` first, then of each. */
export const branchesQuery = (repository: string) =>
  queryOptions({
    queryKey: ["branches", repository],
    queryFn: ({ signal }) => ask(z.array(Branch), path(repository), { signal }),
  });

export interface SaidOfBranch {
  readonly repository: string;
  readonly branch: string;
  readonly body: BranchBody | null;
  readonly why: string;
  /** The number of the change that was seen: what somebody else has said since is not overwritten. */
  readonly after: number;
  readonly dryRun: boolean;
}

export function sayOfBranch({ repository, branch, why, ...said }: SaidOfBranch): Promise<Branch> {
  return tell(
    Branch,
    `${path(repository)}/${encodeURIComponent(branch)}`,
    { ...said, ...(why === "" ? {} : { why }) },
    "PUT",
  );
}
