import type { Session } from "../session.ts";
import { farmSuite } from "./farm-suite.ts";
import { findSeriesCase } from "./find-series-case.ts";

/** Returns the case that matches the words among the farm's measured cases, and its suite. */
export async function namedCase(
  session: Session,
  options: { readonly suite?: string },
  words: readonly string[],
) {
  const { benchmarkHistoryEndpoints } = await import(
    "#api/endpoints/benchmark-history-endpoints.ts"
  );
  const suite = await farmSuite(session.api, options.suite);
  const testCase = await findSeriesCase(words, async () => {
    const { series } = await session.api.call(benchmarkHistoryEndpoints.benchmarkGraphs, {
      query: { suite, limit: 500 },
    });
    return series.map((each) => each.case);
  });
  return { suite, testCase };
}
