import { Fault } from "#core/fault.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { needsOf } from "#definitions/needs-of.ts";

/** The source of the outputs of a needed job. */
type NeedSource =
  /** It runs before the job that needs it. */
  | "run"
  /** Its outputs are used as they are in the checkout. */
  | "checkout";

/**
 * Returns the jobs to run, each after the jobs that it needs. Jobs whose outputs are used from the checkout are left
 * out, with the jobs that only they need.
 */
export function jobOrder(
  chosen: readonly string[],
  definitionOf: (name: string) => JobDefinition,
  sourceOf: (name: string) => NeedSource,
): string[] {
  const order = new Set<string>();
  const visit = (name: string) => {
    if (order.has(name)) return;
    // The planner has refused cycles.
    for (const on of Object.keys(needsOf(definitionOf(name)))) {
      if (chosen.includes(on) || sourceOf(on) === "run") visit(on);
    }
    order.add(name);
  };
  for (const name of chosen) visit(name);
  return [...order];
}

/** Throws `failed_precondition` for a job that only a farm can run. */
export function refuseFarmJobs(name: string, job: JobDefinition): void {
  const why = whyOnlyFarm(job);
  if (why === undefined) return;
  throw new Fault("failed_precondition", `job "${name}" ${why}: only a farm can run it`);
}

function whyOnlyFarm(job: JobDefinition): string | undefined {
  const kind = job.kind ?? "command";
  if (kind !== "command" && kind !== "join") return `is of the kind "${kind}"`;
  if (job.chunks !== undefined) return "is cut into chunks";
  if ((job.secrets ?? []).length > 0) return "is given secrets";
  if ((job.sources ?? []).length > 0) return "reads other repositories";
  return undefined;
}
