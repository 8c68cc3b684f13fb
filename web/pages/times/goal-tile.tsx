import type { Times } from "#api/times.ts";
import { wholeDurationText } from "../../parts/duration.ts";
import { percentText } from "./percent-text.ts";

/** The promised goal: this share of the work starts within this time. */
export function GoalTile({ times: { all, goal } }: { readonly times: Times }) {
  const share = all.withinGoal;
  const isMet = share === null ? undefined : share >= goal.share;
  return (
    <section className={`card tile ${tileState(isMet)}`}>
      <h2>Started within {wholeDurationText(goal.withinSeconds * 1_000)}</h2>
      <p className="figure number">{share === null ? "–" : percentText(share)}</p>
      <p className="faint">
        goal {percentText(goal.share)}
        {isMet === undefined ? "; nothing started in this period" : isMet ? ", met" : ", missed"}
        {" · "}
        <span className="number">{all.wait.count.toLocaleString()}</span> runs
      </p>
    </section>
  );
}

export function tileState(isMet: boolean | null | undefined): string {
  if (isMet === undefined || isMet === null) return "";
  return isMet ? "is-succeeded" : "is-failed";
}
