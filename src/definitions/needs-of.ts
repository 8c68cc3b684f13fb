import type { JobDefinition, Need } from "./job-definition.ts";

/** From the job that finds its inputs, a job takes only the list, unless it says more. */
const listAlone: Need = { outputs: [] };

/** Returns all jobs that come before one: those that it needs, and the one that finds its inputs. */
export function needsOf({
  needs = {},
  "inputs-from": from,
}: Pick<JobDefinition, "needs" | "inputs-from">): Readonly<Record<string, Need>> {
  return from === undefined || Object.hasOwn(needs, from.job)
    ? needs
    : { ...needs, [from.job]: listAlone };
}
