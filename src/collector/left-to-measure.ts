import type { ClaimedBenchmarkJob } from "#api/collector.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import type { MeasuredPair } from "#measuring/measured-iteration.ts";
import type { KeptTest } from "./spool.ts";

export interface CaseLeft {
  readonly case: TestCase;
  /** The number of existing pairs, on the server or stored here. */
  readonly from: number;
  /** The number of iterations and the number of the last earlier one; when absent, as in the suite. */
  readonly iterations?: { readonly after: number; readonly count: number };
  /** The pairs of these that are stored here. */
  readonly kept: readonly Omit<MeasuredPair, "pair">[];
}

/**
 * Returns the rest of a job: without results that are stored here but not yet sent, and without those that were sent
 * before.
 */
export function leftToMeasure(
  { cases, purpose }: Pick<ClaimedBenchmarkJob, "cases" | "purpose">,
  kept: readonly KeptTest[],
  done: readonly string[],
): CaseLeft[] {
  const isPaired = purpose === "paired" || purpose === "confirm";
  const left: CaseLeft[] = [];
  for (const { case: testCase, storedPairs, iterations } of cases) {
    const key = caseKey(testCase);
    if (done.includes(key)) continue;
    const own = kept.filter(({ test }) => caseKey(test.case) === key);
    if (own.some(({ test }) => !isPaired || test.error !== undefined)) continue;
    const pairs = own.flatMap(({ test }) => test.pairs ?? []);
    const from = Math.max(storedPairs, ...pairs.map(({ pair }) => pair));
    left.push({ case: testCase, from, kept: pairs, ...(iterations && { iterations }) });
  }
  return left;
}
