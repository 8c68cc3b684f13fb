import type { ResolvedBranch } from "#api/branch.ts";
import { DefinitionProblems } from "#definitions/definition-problems.ts";
import { fillTemplates } from "#definitions/fill-templates.ts";
import type { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import { wantedOf } from "./graph-definitions.ts";
import { type TemplateCatalog, templatesOf } from "./template-catalog.ts";

/** The values with which definitions are filled: those of a branch, without a commit. */
interface FilledFor {
  readonly repository: string;
  readonly branch: string;
  readonly said: ResolvedBranch;
}

/**
 * Returns the jobs that definitions produce on a branch, by name, as its graph would have them.
 *
 * Jobs whose `when` is false are left out. Undefined if they need a value or a commit to be filled.
 */
export async function filledJobs(
  evaluator: TemplateEvaluator,
  catalog: TemplateCatalog,
  { repository, branch, said }: FilledFor,
): Promise<ReadonlyMap<string, unknown> | undefined> {
  const commit = { sha: "0".repeat(40), subject: "", author: "", committedAt: new Date(0) };
  const context = { repository, branch, rev: branch, commit };
  const wanted = wantedOf({}, said);
  try {
    const { jobs } = await fillTemplates(templatesOf(catalog), wanted, context, evaluator);
    return new Map(
      jobs.filter(({ wanted }) => wanted).map(({ name, definition }) => [name, definition]),
    );
  } catch (reason) {
    if (reason instanceof DefinitionProblems) return undefined;
    throw reason;
  }
}
