import { queryOptions } from "@tanstack/react-query";
import type { Branch, BranchBody } from "#api/branch.ts";
import { catalogEndpoints } from "#api/endpoints/catalog-endpoints.ts";
import { call } from "../../farm/ask.ts";

/** The settings of a repository's branches: those of all as `*` first, then those of each. */
export const branchesQuery = (repository: string) =>
  queryOptions({
    queryKey: ["branches", repository],
    queryFn: ({ signal }) => call(catalogEndpoints.branches, { params: { repository } }, signal),
  });

export interface SaidOfBranch {
  readonly repository: string;
  readonly branch: string;
  readonly body: BranchBody | null;
  readonly why: string;
  /** The number of the change that the user saw, so that later changes of others are not overwritten. */
  readonly after: number;
  readonly dryRun: boolean;
}

export function sayOfBranch({ repository, branch, why, ...said }: SaidOfBranch): Promise<Branch> {
  return call(catalogEndpoints.setBranch, {
    params: { repository, branch },
    body: { ...said, ...(why === "" ? {} : { why }) },
  });
}
