import type { z } from "zod";
import type { ClonedJobForms } from "#api/rerun.ts";
import type { Plan } from "../plan.ts";
import type { OriginalGraph } from "./clone.store.ts";
import { definitionChanges } from "./definition-changes.ts";
import { jsonOf } from "./patched-definition.ts";

/**
 * Returns the jobs that differ between the graph as it ran, without customisations, and as of today.
 *
 * Without a present plan, only customisations are compared.
 */
export function compareClones(
  { jobs }: OriginalGraph,
  today: Plan | undefined,
): z.infer<typeof ClonedJobForms>[] {
  const then = new Map(jobs.map((job) => [job.name, job]));
  const now = new Map(today?.catalog.entries.map((entry) => [entry.name, entry]));
  const names = [...new Set([...then.keys(), ...now.keys()])].toSorted();
  return names.flatMap((job) => {
    const original = then.get(job);
    const present = now.get(job);
    const forms = {
      asItRan: original?.digest ?? null,
      uncustomised: original?.templateDigest ?? null,
      today: present?.digest ?? null,
    };
    const isSame =
      forms.asItRan === forms.uncustomised &&
      (today === undefined || forms.uncustomised === forms.today);
    if (isSame) return [];
    const uncustomised = original && jsonOf(original.template);
    return [
      {
        job,
        ...forms,
        customisations:
          original === undefined
            ? []
            : definitionChanges(jsonOf(original.template), jsonOf(original.definition)),
        changesSince:
          uncustomised === undefined || present === undefined
            ? []
            : definitionChanges(uncustomised, jsonOf(present.definition)),
      },
    ];
  });
}
