import type { CloneMode } from "#api/rerun.ts";
import type { CatalogEntry } from "#definitions/catalog.ts";
import type { Plan } from "../plan.ts";
import { chooseJobs, type JobChoice } from "./choose-jobs.ts";
import type { OriginalGraph, OriginalJob } from "./clone.store.ts";
import type { NewDefinition } from "./customise.store.ts";
import { edgesBy } from "./graph-snapshot.ts";

/** Plans a graph again in its original form. */
export function planAgain({ catalog, jobs, edges }: OriginalGraph): Plan {
  const entries = jobs.map(
    ({ name, templateDigest, template }): CatalogEntry => ({
      name,
      digest: templateDigest,
      definition: template,
    }),
  );
  const inactive = new Set(jobs.filter(({ isInactive }) => isInactive).map(({ name }) => name));
  return { catalog: { digest: catalog, entries }, edges, inactive };
}

/** Returns the chosen part of a plan, with all jobs that it needs. A chosen job is not inactive. */
export function portionOf(plan: Plan, choice: JobChoice): Plan {
  if (choice.selection === undefined && choice.jobs === undefined) return plan;
  const selectable = {
    jobs: plan.catalog.entries.map(({ name, definition }) => ({
      name,
      tags: definition.tags ?? {},
      kind: definition.kind ?? "command",
      state: "",
    })),
  };
  const chosen = [...chooseJobs([selectable], choice).values()].flatMap((names) => [...names]);
  const into = edgesBy("job", plan.edges);
  const wanted = new Set(chosen);
  // The set grows while the loop reads it: added jobs bring the jobs that they need.
  for (const name of wanted) for (const { on } of into.get(name) ?? []) wanted.add(on);
  return {
    catalog: {
      digest: plan.catalog.digest,
      entries: plan.catalog.entries.filter(({ name }) => wanted.has(name)),
    },
    edges: plan.edges.filter(({ job }) => wanted.has(job)),
    inactive: new Set(),
  };
}

/** Returns the customisations that a clone keeps. */
export function patchesFor(mode: CloneMode, jobs: readonly OriginalJob[]): NewDefinition[] {
  if (mode !== "as-it-ran") return [];
  return jobs.flatMap(({ name, templateDigest, patch, digest, definition, template }) =>
    patch === null
      ? []
      : [
          {
            job: name,
            templateDigest,
            patch,
            entry: { digest, definition },
            hasOtherTtl: template.ttl !== definition.ttl,
          },
        ],
  );
}
