import type { JobDefinition, Need } from "./job-definition.ts";

/** Of what finds its inputs, a job takes the list alone, unless it says more. */
const listAlone: Need = { outputs: [] };

/** All jobs that come before one: those that it names as needs, and the one that finds its inputs. */
export function needsOf({
  needs = {},
  "inputs-from": from,
}: Pick<JobDefinition, "needs" | "inputs-from">): Readonly<Record<string, Need>> {
  return from === undefined || Object.hasOwn(needs, from.job)
    ? needs
    : { ...needs, [from.job]: listAlone };
}
