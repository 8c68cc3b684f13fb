import { requireGrant } from "#access/require-grant.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { FetchedCommit } from "#git/fetch-commit.ts";
import { domainOfCommit } from "../domain-of-commit.ts";
import { nameRepository } from "../repository.store.ts";
import { requireMayReadDefinitions } from "../repository-access.ts";
import type { Submission, SubmissionServices } from "./submission.ts";

/** A submission that is allowed: its commit is in the mirror, and it is known where the graph belongs. */
export interface AuthorisedSubmission extends Submission {
  readonly rev: string;
  readonly commit: FetchedCommit;
  readonly where: {
    /** The repository by the name that the farm gave it. */
    readonly repository: string;
    readonly branch: string;
  };
  readonly domain: TrustDomain;
}

/**
 * Fetches the commit and checks the rights of the submitter.
 *
 * The rights for the exact branch can only be checked after the fetch. Throws `permission_denied`, and the errors of
 * fetching.
 */
export async function authoriseSubmission(
  services: SubmissionServices,
  submission: Submission,
): Promise<AuthorisedSubmission> {
  const { request, by, origin } = submission;
  const rev = request.rev ?? "HEAD";
  await services.access.requireMayRead(by, request.repository);
  const address =
    (await services.addressWithCredential?.(request.repository, by)) ?? request.repository;
  const commit = await services.mirrors.fetchCommit(address, rev);
  services.inputs.know({ url: commit.repository, sha: commit.sha }, commit.mirror);
  const branch = request.branch ?? commit.branch ?? "";
  const repository = await services.db.transaction(async (tx) => {
    const name = await nameRepository(tx, commit.repository);
    // In the same transaction: a refused caller must not reserve the name that another repository needs.
    requireGrant(by, "submit", { repository: name, branch });
    return name;
  });
  const where = { repository, branch };
  const wanted = { commit, address, repository, branch, ref: origin.ref, by };
  const domain = await domainOfCommit(services, wanted);
  // A caller that chooses a directory of the server's machine defines more than a graph.
  if (request.definitionsFrom?.kind === "directory") requireGrant(by, "define", where);
  await requireMayReadDefinitions(services.access, by, request.definitionsFrom);
  return { ...submission, rev, commit, where, domain };
}
