import type { ClaimedBenchmarkJob } from "#api/collector.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import type { MeasuredPair } from "#measuring/measured-iteration.ts";
import type { KeptTest } from "./spool.ts";

export interface CaseLeft {
  readonly case: TestCase;
  /** The number of existing pairs, on the server or stored here. */
  readonly from: number;
  /**
   * The number of iterations to run, and the number of the last one that was run before; when absent, the suite
   * decides.
   */
  readonly iterations?: { readonly after: number; readonly count: number };
  /** Pairs of this case that are stored here. */
  readonly kept: readonly Omit<MeasuredPair, "pair">[];
}

/** Returns the rest of a job, without results that are stored here and without results that were already sent. */
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
