import type { Principal, Where } from "#access/principal.ts";
import { priorityCapOf } from "#access/priority-cap.ts";
import { grantCommand } from "#access/require-grant.ts";
import type { ResolvedBranch } from "#api/branch.ts";

/** What a branch says about the graphs that run on it. */
export type BranchRules = Pick<ResolvedBranch, "protected" | "customisable" | "priorityCap">;

export interface WantedPriority {
  readonly branch: BranchRules;
  /** Higher is sooner; undefined when nobody asked for one. */
  readonly requestedPriority: number | undefined;
  /** Whether the one class that nothing overtakes was asked for. */
  readonly top: boolean;
  readonly principal: Principal;
  readonly where: Where;
}

export type PriorityAdmission =
  | {
      readonly ok: true;
      readonly priority: number;
      /** The highest that a job of the graph may reach; null for no cap. */
      readonly cap: number | null;
      /** That less was given than asked for, and why. */
      readonly notice?: string;
    }
  | {
      readonly ok: false;
      /** What is in the way, and what to do. */
      readonly refusal: string;
    };

/**
 * How soon a graph may run: the least of what was asked, the branch's cap and the principal's.
 *
 * What is too high is lowered with a word about it; on a protected branch it is refused, since there nobody
 * is to be surprised.
 */
export function admitPriority(wanted: WantedPriority): PriorityAdmission {
  const { branch, principal, where, requestedPriority } = wanted;
  const own = priorityCapOf(principal, where);
  if (wanted.top && !own.top) {
    const missing = `${grantCommand(principal.name, "prioritise", where)} --top`;
    return {
      ok: false,
      refusal: `${principal.name} may not use the top class on ${branchName(where)}: ask for \`${missing}\`, or for a priority`,
    };
  }
  const lowest = [
    { whose: branchName(where), cap: branch.priorityCap },
    { whose: principal.name, cap: own.cap },
  ].reduce((least, each) => (above(least.cap, each.cap) ? each : least));
  const asked = requestedPriority ?? 0;
  const { whose, cap } = lowest;
  if (cap === null || asked <= cap) return { ok: true, priority: asked, cap };
  if (requestedPriority === undefined) return { ok: true, priority: cap, cap };
  if (branch.protected) {
    return {
      ok: false,
      refusal: `priority ${asked} is above the cap of ${whose}, ${cap}: ask for ${cap} or less, or for none`,
    };
  }
  return {
    ok: true,
    priority: cap,
    cap,
    notice: `priority ${asked} was lowered to ${cap}, the cap of ${whose}`,
  };
}

/** Whether the one cap allows more than the other. */
function above(one: number | null, other: number | null): boolean {
  return other !== null && (one === null || one > other);
}

export function branchName({ repository, branch }: Where): string {
  return branch === "" ? `what is of no branch of ${repository}` : `${branch} of ${repository}`;
}
