import type { DefinitionContext } from "./definition-context.ts";
import { type DefinedJob, type Definitions, fillTemplates } from "./fill-templates.ts";
import { readTemplates } from "./read-templates.ts";
import type { TemplateEvaluator } from "./template-evaluator.ts";

export type { DefinedJob, DefinitionContext, Definitions };

/**
 * Reads the files of `.grange/`, all together, for one commit.
 *
 * Throws `DefinitionProblems` with all problems of the first stage that has any. The stages are: syntax, the top level
 * of each file, templates, jobs.
 */
export async function readDefinitions(
  files: ReadonlyMap<string, string>,
  given: Readonly<Record<string, unknown>>,
  context: DefinitionContext,
  evaluator: TemplateEvaluator,
): Promise<Definitions> {
  const wanted = { parameters: given, switches: {} };
  return fillTemplates(await readTemplates(files), wanted, context, evaluator);
}
