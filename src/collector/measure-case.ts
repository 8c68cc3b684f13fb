import type { ClaimedBenchmarkJob, ReportTest } from "#api/collector.ts";
import type { PlacedArtifact } from "#artifacts/artifact-cache.ts";
import { messageOf } from "#core/fault.ts";
import { keepableText } from "#core/keepable-text.ts";
import { caseKey } from "#core/test-case.ts";
import { metricsOf } from "#suites/metrics-of.ts";
import type { Suite } from "#suites/suite.ts";
import type { CollectorOperations } from "./collector-operations.ts";
import type { CaseLeft } from "./left-to-measure.ts";
import { isOfTheTest } from "./standing.ts";

const longestError = 20_000;
const longestWarning = 200;

export interface MeasuringJob {
  readonly claimed: ClaimedBenchmarkJob;
  readonly suite: Suite;
  readonly artifact: PlacedArtifact;
  readonly against: PlacedArtifact | undefined;
}

type Results = Omit<ReportTest, "holder">;

/**
 * Measures one test, and passes its results to `keep` before it continues. A failure is also a result.
 *
 * A thrown error does not come from the test: its cause is the machine, the network, or the signal.
 */
export async function measureCase(
  bench: CollectorOperations,
  { claimed, suite, artifact, against }: MeasuringJob,
  left: CaseLeft,
  warning: string | undefined,
  keep: (results: Results) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { case: testCase } = left;
  const metrics = metricsOf(suite);
  try {
    if (against === undefined) {
      const iterations = await bench.measureTest(
        suite,
        testCase,
        artifact,
        signal,
        left.iterations && {
          after: left.iterations.after,
          counted: left.iterations.count,
          timed: left.iterations.count,
        },
      );
      const flagged = iterations.map((each) => ({
        ...each,
        warnings: warningsOf([...(warning === undefined ? [] : [warning]), ...each.warnings]),
      }));
      return await keep({ case: testCase, metrics, iterations: flagged });
    }
    const doubts = claimed.doubts.filter((doubt) => caseKey(doubt.case) === caseKey(testCase));
    await bench.measurePairs({
      suite,
      case: testCase,
      child: artifact,
      parent: against,
      from: left.from,
      stored: left.kept,
      seed: claimed.id,
      ...(doubts.length === 0 ? {} : { doubts }),
      onPair: (pair) => keep({ case: testCase, metrics, pairs: [pair] }),
      signal,
    });
  } catch (reason) {
    if (signal.aborted || !isOfTheTest(reason)) throw reason;
    await keep({ case: testCase, metrics: [], error: errorText(reason) });
  }
}

export function errorText(reason: unknown): string {
  return keepableText(messageOf(reason), longestError) || "it failed without a message";
}

function warningsOf(warnings: readonly string[]): string[] {
  return warnings.slice(0, 20).map((text) => keepableText(text, longestWarning));
}
