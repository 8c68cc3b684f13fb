import type { Catalog } from "#definitions/catalog.ts";
import { definitionLimits } from "#definitions/definition-limits.ts";
import { type DefinitionProblem, DefinitionProblems } from "#definitions/definition-problems.ts";
import { suggestion } from "#definitions/nearest-name.ts";
import type { NewDefinition } from "./customise.store.ts";
import type { JsonObject } from "./json-merge-patch.ts";
import { patchedDefinition } from "./patched-definition.ts";

/** Returns the customisations that come with a submission; throws `DefinitionProblems` with all problems. */
export function patchesAtSubmission(
  { entries }: Catalog,
  patches: Readonly<Record<string, JsonObject>> = {},
): NewDefinition[] {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const problems: DefinitionProblem[] = [];
  const changes: NewDefinition[] = [];
  for (const [job, patch] of Object.entries(patches)) {
    const template = byName.get(job);
    if (template === undefined) {
      const message = `the graph has no job "${job}"${suggestion(job, byName.keys())}`;
      problems.push({ file: `patch of ${job}`, line: null, column: null, message });
      continue;
    }
    try {
      const entry = patchedDefinition(job, template.definition, patch);
      const { digest: templateDigest } = template;
      const hasOtherTtl = entry.definition.ttl !== template.definition.ttl;
      if (entry.digest !== templateDigest)
        changes.push({ job, templateDigest, patch, entry, hasOtherTtl });
    } catch (reason) {
      if (!(reason instanceof DefinitionProblems)) throw reason;
      problems.push(...reason.problems);
    }
  }
  if (problems.length > 0)
    throw new DefinitionProblems(problems.slice(0, definitionLimits.problems));
  return changes;
}
