import { z } from "zod";
import { Metric } from "#core/benchmark-metric.ts";
import { TestCase } from "#core/test-case.ts";
import { EnvironmentFacts } from "./collector.ts";

const Time = z.iso.datetime();

/**
 * The origin of a limit: for an exact metric every difference counts; `least` is the smallest reported change;
 * `history`, `runs` and `self-tests` are measured variations; `unseen`: nothing was measured, and only large changes
 * are reported.
 */
export const LimitSource = z.enum(["exact", "least", "history", "runs", "self-tests", "unseen"]);
export type LimitSource = z.infer<typeof LimitSource>;

/** The noise of one metric of a case on one kind of machine. All figures except `limit` are from the past. */
export const MetricNoise = z.object({
  metric: Metric,
  /** The variation between the runs of one artifact, (greatest - least) / least; newest artifacts first, at most 30. */
  runs: z.array(
    z.object({ artifact: z.string(), iterations: z.number().int(), scatter: z.number() }),
  ),
  /** |relative change| of equal artifacts in self-tests, newest first, at most 200. */
  selfTests: z.array(z.object({ at: Time, change: z.number() })),
  /** Their 95th percentile; null: no self-test measured it. */
  selfTestsP95: z.number().nullable(),
  /** Over the 30 newest artifacts of the main line; null: there are fewer, or the metric is not deterministic. */
  fence: z.number().nullable(),
  /** From this |relative change| on, the next artifact's figure is reported as changed. */
  limit: z.number(),
  from: LimitSource,
});
export type MetricNoise = z.infer<typeof MetricNoise>;

/** The noise of a case, by kind of machine, the most recently introduced kind first. */
export const CaseNoise = z
  .object({
    suite: z.string(),
    case: TestCase,
    machines: z.array(
      z.object({
        fingerprint: z.string(),
        facts: EnvironmentFacts,
        collectors: z.array(z.string()),
        /** The newest artifact that it measured; null: only self-tests were run. */
        newest: z.string().nullable(),
        metrics: z.array(MetricNoise),
      }),
    ),
  })
  .meta({ id: "CaseNoise" });
export type CaseNoise = z.infer<typeof CaseNoise>;
