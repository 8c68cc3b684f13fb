import { Fault } from "#core/fault.ts";
import type { JobRights } from "#core/job-rights.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import type { ReadyJob } from "./ready-job.store.ts";

type JobWithPlace = Pick<
  ReadyJob,
  "graphId" | "job" | "repository" | "branch" | "commit" | "domain" | "submittedBy"
> & { readonly definition: Pick<ReadyJob["definition"], "caches" | "identity"> };

/**
 * Returns the rights of a run's token; undefined for a job that requests none.
 *
 * Throws `failed_precondition` for an identity outside of `protected`: the token would state a branch on which the farm
 * did not see the commit.
 */
export function rightsOfJob({ definition, ...place }: JobWithPlace): JobRights | undefined {
  const { caches, identity: audiences } = definition;
  if (caches !== true && audiences === undefined) return undefined;
  if (audiences !== undefined && place.domain !== protectedDomain) {
    throw new Fault(
      "failed_precondition",
      `only runs in protected domains get an identity, and this run is in ${place.domain}`,
    );
  }
  const { repository, branch, commit, graphId, job, submittedBy } = place;
  return {
    ...(caches === true ? { caches: repository } : {}),
    ...(audiences === undefined
      ? {}
      : {
          identity: {
            audiences: [...audiences],
            repository,
            ref: branch === "" ? "" : `refs/heads/${branch}`,
            sha: commit,
            graph: graphId,
            job,
            submittedBy,
          },
        }),
  };
}
