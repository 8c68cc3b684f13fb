import type { Activate, Deactivate, RerunMode, Retrigger, Waive } from "#api/rerun.ts";

/** The jobs of a change: a selection as typed by the user, or names. */
export type ChangeTarget =
  | { readonly selection: string; readonly wholeSet: boolean }
  | { readonly jobs: readonly string[] };

/** A change that a user requests, before its effect is known. */
export type RequestedChange =
  | {
      readonly verb: "retrigger";
      readonly target: ChangeTarget;
      readonly mode: RerunMode | "only-stale";
      readonly times: number;
      /** Also for queued or running jobs: another run after the present one. */
      readonly another: boolean;
    }
  | {
      readonly verb: "activate" | "deactivate";
      readonly target: ChangeTarget;
      readonly downstream: boolean;
    }
  | {
      readonly verb: "waive";
      readonly job: string;
      readonly on: string;
      readonly reason: string;
    };

type Body = Retrigger | Activate | Deactivate | Waive;

/** Returns the request in the form of the API. */
export function bodyOf(change: RequestedChange): Body {
  switch (change.verb) {
    case "retrigger":
      return {
        ...targetOf(change.target),
        mode: change.mode === "only-stale" ? "revive" : change.mode,
        onlyStale: change.mode === "only-stale",
        times: change.times,
        another: change.another,
      };
    case "activate":
      return { ...targetOf(change.target), downstream: change.downstream };
    case "deactivate":
      return targetOf(change.target);
    case "waive": {
      const { job, on, reason } = change;
      return { job, on, reason };
    }
  }
}

function targetOf(target: ChangeTarget) {
  return "jobs" in target ? { jobs: [...target.jobs] } : target;
}
