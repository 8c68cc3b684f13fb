import { canonicalJson } from "#core/canonical-json.ts";
import type { Requests } from "#definitions/choose-values.ts";
import type { DefinitionContext } from "#definitions/definition-context.ts";
import { type Definitions, fillTemplates } from "#definitions/fill-templates.ts";
import { type Plan, plan } from "../plan.ts";
import { type CatalogServices, type GraphDefinitions, withPlaces } from "./graph-definitions.ts";

/** Definitions with all holes filled, and the graph that they make. */
export interface PlannedTemplates {
  readonly definitions: Definitions;
  readonly planned: Plan;
}

/**
 * What definitions become for somebody's wishes, without asking anybody else.
 *
 * The same question has the same answer for ever, so it is remembered for a while: who looks at a
 * preview looks at it more than once.
 */
export function planTemplates(
  services: CatalogServices,
  from: GraphDefinitions,
  wanted: Requests,
  context: DefinitionContext,
  select: string | undefined,
): Promise<PlannedTemplates> {
  const key = canonicalJson([from.catalog.digest, wanted, context, select ?? null]);
  return services.cache.plans.get(key, () =>
    withPlaces(from, async (templates) => {
      const definitions = await fillTemplates(templates, wanted, context, services.evaluator);
      return { definitions, planned: await plan(definitions, select) };
    }),
  );
}
