import type { Comparison } from "#api/benchmark-comparison.ts";
import type { BenchmarkSearchView, Series, SuiteView } from "#api/benchmark-history.ts";
import type { CaseNoise } from "#api/benchmark-noise.ts";
import type { ArtifactView, RequestDetail } from "#api/benchmark-request.ts";
import type { CollectorView } from "#api/collector.ts";
import type { TestCase } from "#core/test-case.ts";

/** The benchmark data of the fake server. */
export class FakeLab {
  suites: SuiteView[] = [];
  /** The newest first. */
  artifacts: ArtifactView[] = [];
  cases: TestCase[] = [];
  requests: RequestDetail[] = [];
  collectors: CollectorView[] = [];
  searches: BenchmarkSearchView[] = [];
  alarms: string[] = [];
  compare: (before: string, after: string, metric: string) => Comparison | undefined = () =>
    undefined;
  noise: (of: TestCase) => CaseNoise | undefined = () => undefined;
  series: (of: TestCase, metric: string, samples: boolean) => Series | undefined = () => undefined;
  /** Statements about change points, the last first. */
  readonly said: unknown[] = [];
  /** POST requests, by address. */
  readonly told: string[] = [];
}
