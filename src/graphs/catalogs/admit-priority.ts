import type { Principal, Where } from "#access/principal.ts";
import { priorityCapOf } from "#access/priority-cap.ts";
import { grantCommand } from "#access/require-grant.ts";
import type { ResolvedBranch } from "#api/branch.ts";

/** The rules of a branch for the graphs that run on it. */
export type BranchRules = Pick<ResolvedBranch, "protected" | "customisable" | "priorityCap">;

export interface WantedPriority {
  readonly branch: BranchRules;
  /** Higher is sooner; undefined without a request. */
  readonly requestedPriority: number | undefined;
  /** Whether the top class was requested, which nothing overtakes. */
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
      /** States that the priority was lowered, and why. */
      readonly notice?: string;
    }
  | {
      readonly ok: false;
      /** The reason for the refusal, and what to do. */
      readonly refusal: string;
    };

/**
 * Returns the priority of a graph: the least of the requested one, the branch's cap and the principal's.
 *
 * A priority that is too high is lowered with a notice. On a protected branch it is refused, so that its users are not
 * surprised.
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
  const requested = requestedPriority ?? 0;
  const { whose, cap } = lowest;
  if (cap === null || requested <= cap) return { ok: true, priority: requested, cap };
  if (requestedPriority === undefined) return { ok: true, priority: cap, cap };
  if (branch.protected) {
    return {
      ok: false,
      refusal: `priority ${requested} is above the cap of ${whose}, ${cap}: ask for ${cap} or less, or for none`,
    };
  }
  return {
    ok: true,
    priority: cap,
    cap,
    notice: `priority ${requested} was lowered to ${cap}, the cap of ${whose}`,
  };
}

/** Returns whether one cap allows more than the other. */
function above(one: number | null, other: number | null): boolean {
  return other !== null && (one === null || one > other);
}

export function branchName({ repository, branch }: Where): string {
  return branch === "" ? `what is of no branch of ${repository}` : `${branch} of ${repository}`;
}
