import type { CaseComparison } from "#api/benchmark-comparison.ts";
import type { TestCase } from "#core/test-case.ts";
import { claimsChange } from "./judge-noisy.ts";
import { defaultRounds } from "./judge-pairs.ts";

/** A case and metric that an independent rerun must confirm. */
export interface ChangeToConfirm {
  readonly case: TestCase;
  readonly metric: string;
}

/**
 * Returns the changes to measure again before they are reported: each change that pairs claim and no rerun has
 * confirmed or refuted. This includes changes that became undecided because of their shape, or because they are not
 * significant among all cases: a rerun can restore them.
 */
export function changesToConfirm(
  cases: readonly CaseComparison[],
  rounds: readonly number[] = defaultRounds,
): ChangeToConfirm[] {
  return cases.flatMap(({ case: testCase, metric, evidence }) =>
    evidence.by === "pairs" && evidence.confirmed === null && claimsChange(evidence, rounds)
      ? [{ case: testCase, metric }]
      : [],
  );
}
