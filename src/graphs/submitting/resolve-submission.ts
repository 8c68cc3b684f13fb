import type { Requests } from "#definitions/choose-values.ts";
import { branchDefinition } from "../catalogs/branch-definition.store.ts";
import {
  type GraphDefinitions,
  graphDefinitions,
  wantedOf,
} from "../catalogs/graph-definitions.ts";
import type { AuthorisedSubmission } from "./authorise-submission.ts";
import type { SubmissionServices } from "./submission.ts";

/** A submission whose definitions have been read. */
export interface ResolvedSubmission extends AuthorisedSubmission {
  readonly from: GraphDefinitions;
  /** The values for the placeholders of the definitions, from the request and the branch. */
  readonly values: Requests;
}

/** Finds the definitions from which the graph is made. Throws `DefinitionProblems`. */
export async function resolveSubmission(
  services: SubmissionServices,
  submission: AuthorisedSubmission,
): Promise<ResolvedSubmission> {
  const { request, commit, where, by, origin } = submission;
  const rules = await branchDefinition(services.db, where.repository, where.branch);
  const isOfOutsiders = origin.outsiders !== undefined;
  const place = { ...where, said: rules, commit, by, isOfOutsiders };
  const from = await graphDefinitions(services, place, request);
  return { ...submission, from, values: wantedOf(request, rules) };
}
