import type { TargetInBuild } from "#api/invocation-targets.ts";
import type { TargetFacts } from "./target-facts.store.ts";
import { targetState } from "./target-state.ts";

type Outcome = Pick<
  TargetInBuild,
  "state" | "testStatus" | "durationMs" | "executed" | "hits" | "failed"
>;

/** Returns how a target went, as lists show it. */
export function outcomeOfTarget(facts: TargetFacts): Outcome {
  const { durationMs, executed, failed, hits, isReported, testStatus } = facts;
  return {
    state: targetState({ ...facts, reported: isReported ? facts : null }),
    testStatus,
    // The clock of the tool may have been set back.
    durationMs: durationMs === null ? null : Math.max(0, Math.round(durationMs)),
    executed,
    hits,
    failed,
  };
}
