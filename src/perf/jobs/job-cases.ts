import type { JobPurpose } from "#api/benchmark-request.ts";
import type { ChangeToConfirm, ClaimedBenchmarkJob } from "#api/collector.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import { type JobSlice, planCases } from "#suites/plan-cases.ts";
import type { Suite } from "#suites/suite.ts";

/** The parts of a job that define what to measure. */
interface PlannedWork extends JobSlice {
  readonly purpose: JobPurpose;
  readonly doubts: readonly ChangeToConfirm[] | null;
}

/** Returns all cases of a job; for a confirming job, the doubtful ones. */
export function jobCases(suite: Suite, job: PlannedWork): TestCase[] {
  const planned = planCases(suite, job);
  if (job.purpose !== "confirm") return planned;
  const doubted = new Set((job.doubts ?? []).map((doubt) => caseKey(doubt.case)));
  return planned.filter((testCase) => doubted.has(caseKey(testCase)));
}

export interface StoredIterations {
  /** The highest iteration number. */
  readonly last: number;
  readonly count: number;
}

/**
 * Returns the remaining cases of a job, without those that have figures. For a case that is measured in pairs, the code
 * that judges pairs decides whether it has enough. When a job states a number of runs, the missing ones are measured.
 */
export function casesLeft(
  cases: readonly TestCase[],
  { purpose, runs }: Pick<PlannedWork, "purpose"> & { readonly runs: number | null },
  measured: ReadonlySet<string>,
  pairs: ReadonlyMap<string, number>,
  iterations: ReadonlyMap<string, StoredIterations>,
): ClaimedBenchmarkJob["cases"] {
  const isPaired = purpose === "paired" || purpose === "confirm";
  return cases
    .filter((testCase) => isPaired || !measured.has(caseKey(testCase)))
    .map((testCase) => ({
      case: testCase,
      storedPairs: pairs.get(caseKey(testCase)) ?? 0,
      ...(runs === null
        ? {}
        : { iterations: missingRuns(runs, iterations.get(caseKey(testCase))) }),
    }));
}

/** Runs may be missing although newer code counts them as enough: one more is harmless. */
function missingRuns(runs: number, stored: StoredIterations = { last: 0, count: 0 }) {
  return { after: stored.last, count: Math.max(1, runs - stored.count) };
}
