import { z } from "zod";

/**
 * What a job can require of the worker that runs it, from the least to the most.
 *
 * - `sandbox`: the job reaches no files, processes, sockets and settings of the machine and of other jobs.
 * - `strict`: every attack of the list that concerns the job is stopped, also those that use up the machine.
 */
export const IsolationLevel = z.enum(["sandbox", "strict"]);
export type IsolationLevel = z.infer<typeof IsolationLevel>;

/** The property of a platform with which an action requires a level. */
export const isolationProperty = "isolation";

/** The properties with which a worker offers a level. Those with `network` are for jobs that use the network. */
export const isolationOffers = {
  sandbox: "grange-isolation-sandbox",
  "sandbox, network": "grange-isolation-sandbox-network",
  strict: "grange-isolation-strict",
  "strict, network": "grange-isolation-strict-network",
} as const;
export type IsolationOffer = keyof typeof isolationOffers;

/** The value of each offer. */
export const offered = "yes";

/** Returns the stronger of two levels; undefined: none is required. */
export function strongerIsolation(
  one: IsolationLevel | undefined,
  other: IsolationLevel | undefined,
): IsolationLevel | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return IsolationLevel.options.indexOf(one) >= IsolationLevel.options.indexOf(other) ? one : other;
}

const prefix = "grange-isolation-";
const forNetwork = "-network";

/**
 * Returns the property that a worker must offer for a level. An unknown level has one that no worker offers, so its
 * action waits and never runs in a weaker sandbox.
 */
export function isolationRequirement(level: string, usesNetwork: boolean): string {
  return `${prefix}${level}${usesNetwork ? forNetwork : ""}`;
}

/** Returns the level that a property of a platform offers, for people; undefined for another property. */
export function isolationOfProperty(property: string): string | undefined {
  if (!property.startsWith(prefix)) return undefined;
  const level = property.slice(prefix.length);
  return level.endsWith(forNetwork)
    ? `${level.slice(0, -forNetwork.length)} for jobs with the network`
    : level;
}
