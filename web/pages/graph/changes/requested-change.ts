import type { Activate, Deactivate, RerunMode, Retrigger, Waive } from "#api/rerun.ts";

/** Which jobs a change is about: a selection as somebody typed it, or names. */
export type ChangeTarget =
  | { readonly selection: string; readonly wholeSet: boolean }
  | { readonly jobs: readonly string[] };

/** What somebody wants to do to jobs of a graph, before it is known what that means. */
export type RequestedChange =
  | {
      readonly verb: "retrigger";
      readonly target: ChangeTarget;
      readonly mode: RerunMode | "only-stale";
      readonly times: number;
      /** Of what is queued or running: further runs after that one. */
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

/** The same as the API takes it. */
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
