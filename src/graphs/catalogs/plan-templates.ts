import { canonicalJson } from "#core/canonical-json.ts";
import type { Requests } from "#definitions/choose-values.ts";
import type { DefinitionContext } from "#definitions/definition-context.ts";
import { type Definitions, fillTemplates } from "#definitions/fill-templates.ts";
import { type Plan, plan } from "../plan.ts";
import { type CatalogServices, type GraphDefinitions, withPlaces } from "./graph-definitions.ts";

/** Definitions with all placeholders filled, and the graph that they make. */
export interface PlannedTemplates {
  readonly definitions: Definitions;
  readonly planned: Plan;
}

/**
 * Plans definitions for given requests.
 *
 * The result never changes, so it is cached for a while: a preview is usually read more than once.
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
