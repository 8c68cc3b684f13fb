import type { Verb } from "#core/verb.ts";
import { grantsFor, lowestPriority, type Principal, type Where } from "./principal.ts";

interface PriorityCap {
  /** The highest priority that the principal may request; null for no cap. */
  readonly cap: number | null;
  /** Whether the principal may use the class that nothing overtakes. */
  readonly top: boolean;
}

/** The verbs that give a graph its priority. A cap on cancelling does not apply to them. */
const prioritising: readonly Verb[] = ["submit", "clone", "prioritise"];

/** Returns the most generous of all grants that apply there; without any, the lowest priority. */
export function priorityCapOf(principal: Principal, where: Where): PriorityCap {
  const grants = grantsFor(principal, prioritising, where);
  const caps = grants.flatMap(({ priorityCap }) => priorityCap ?? []);
  return {
    cap: caps.length < grants.length ? null : Math.max(lowestPriority, ...caps),
    top: grants.some(({ top }) => top),
  };
}
