import type { RunCause } from "#api/graph.ts";
import { type Definitions, fillTemplates } from "#definitions/fill-templates.ts";
import { turns } from "#scheduling/turns.ts";
import { addSubmodules, markSubmodules } from "../add-submodules.ts";
import { beginGraph } from "../advancing/begin-graph.ts";
import type { GraphPart } from "../advancing/graph-part.ts";
import { withPlaces } from "../catalogs/graph-definitions.ts";
import { holdGraphToCost, holdJobsToLimits } from "../catalogs/hold-to-limits.ts";
import { type Plan, plan } from "../plan.ts";
import { planForOutsiders } from "../plan-for-outsiders.ts";
import type { NewDefinition } from "../reruns/customise.store.ts";
import { patchesAtSubmission } from "../reruns/patches-at-submission.ts";
import { resolveSources } from "../resolve-sources.ts";
import type { ResolvedSubmission } from "./resolve-submission.ts";
import type { SubmissionServices } from "./submission.ts";

/** A submission whose jobs are planned, including those that run first. */
export interface PlannedSubmission extends ResolvedSubmission {
  readonly definitions: Definitions;
  readonly plan: Plan;
  /** Changes of jobs' definitions for this graph alone. */
  readonly patches: readonly NewDefinition[];
  readonly begun: GraphPart;
}

/**
 * Fills the definitions, and plans the graph of their jobs.
 *
 * Throws `DefinitionProblems`, and `permission_denied` for jobs that require more than the grant allows.
 */
export async function planSubmission(
  services: SubmissionServices,
  submission: ResolvedSubmission,
): Promise<PlannedSubmission> {
  const { request, by, where, origin } = submission;
  const turn = turns();
  const filled = await fillAndPlan(services, submission);
  await turn();
  const { entries } = filled.plan.catalog;
  const patches = patchesAtSubmission(filled.plan.catalog, request.patches);
  holdJobsToLimits(by, "submit", where, entries);
  const patched = patches.map(({ job, entry }) => ({ name: job, definition: entry.definition }));
  holdJobsToLimits(by, "submit", where, patched);
  await holdGraphToCost(services.db, by, "submit", where, entries);
  await turn();
  const begun = causedBy(origin.cause ?? "first", await beginGraph(filled.plan));
  return { ...submission, ...filled, patches, begun };
}

function fillAndPlan(
  services: SubmissionServices,
  { request, rev, commit, where, by, origin, from, values }: ResolvedSubmission,
): Promise<Pick<PlannedSubmission, "definitions" | "plan">> {
  const { sha, subject, committedAt } = commit;
  const author = commit.author.name;
  const { repository, branch } = where;
  const context = { repository, commit: { sha, subject, author, committedAt }, rev, branch };
  const place = { url: commit.repository, sha };
  return withPlaces(from, async (templates) => {
    const definitions = await fillTemplates(templates, values, context, services.evaluator);
    if (origin.outsiders !== undefined) {
      const marked = await markSubmodules(services, definitions, place);
      const planned = await planForOutsiders(marked, request.select, origin.outsiders);
      return { definitions, plan: planned };
    }
    const whole = await addSubmodules(services, definitions, place, by);
    const planned = await plan(await resolveSources(services, whole, by), request.select);
    return { definitions, plan: planned };
  });
}

/** Returns the same beginning, with a cause for each requested run. */
function causedBy(cause: RunCause, { jobs, edges }: GraphPart): GraphPart {
  return {
    edges,
    jobs: jobs.map((job) => (job.wanted === null ? job : { ...job, wanted: cause })),
  };
}
