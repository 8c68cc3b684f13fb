import { Comparison } from "#api/benchmark-comparison.ts";
import {
  ChangePointView,
  type SayOfChangePoint,
  Series,
  SeriesGrid,
  Steps,
} from "#api/benchmark-history.ts";
import { CaseNoise } from "#api/benchmark-noise.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import type { ApiClient } from "./api-client.ts";

/** What was measured. */
export function benchmarkHistoryCalls(api: Pick<ApiClient, "get" | "post">) {
  return {
    compare: (query: {
      readonly suite: string;
      readonly before: string;
      readonly after: string;
      readonly metric: string | undefined;
    }) => api.get(Comparison, `/benchmarks/compare?${queryText(query)}`),
    graphs: (query: { readonly suite: string; readonly limit: string }) =>
      api.get(SeriesGrid, `/benchmarks/graphs?${queryText(query)}`),
    series: (query: {
      readonly suite: string;
      readonly case: TestCase;
      readonly metric: string | undefined;
      readonly kind: string;
    }) =>
      api.get(Series, `/benchmarks/series?${queryText({ ...query, case: caseKey(query.case) })}`),
    noise: (query: { readonly suite: string; readonly case: TestCase }) =>
      api.get(
        CaseNoise,
        `/benchmarks/noise?${queryText({ suite: query.suite, case: caseKey(query.case) })}`,
      ),
    steps: (query: { readonly suite: string; readonly since: string; readonly standing: string }) =>
      api.get(Steps, `/benchmarks/change-points?${queryText(query)}`),
    sayOfStep: (said: SayOfChangePoint) =>
      api.post(ChangePointView, "/benchmarks/change-points", said),
  };
}
export type BenchmarkHistoryCalls = ReturnType<typeof benchmarkHistoryCalls>;

function queryText(query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as [string, string]],
  );
  return new URLSearchParams(given).toString();
}
