import type { JobDefinition, Need } from "./job-definition.ts";

/** From the job that finds its inputs, a job uses only the list, unless it names more outputs. */
const listAlone: Need = { outputs: [] };

/** Returns all jobs that must run before a job: those that it needs, and the one that finds its inputs. */
export function needsOf({
  needs = {},
  "inputs-from": from,
}: Pick<JobDefinition, "needs" | "inputs-from">): Readonly<Record<string, Need>> {
  return from === undefined || Object.hasOwn(needs, from.job)
    ? needs
    : { ...needs, [from.job]: listAlone };
}
