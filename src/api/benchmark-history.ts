import { z } from "zod";
import { Metric } from "#core/benchmark-metric.ts";
import { Section, SuiteWord, TestCase } from "#core/test-case.ts";
import { ArtifactTag, Estimate, RequestKind, RequestSummary } from "./benchmark-request.ts";
import { CollectorView } from "./collector.ts";

const Time = z.iso.datetime();

export const SuiteView = z.object({
  name: z.string(),
  description: z.string(),
  digest: z.string(),
  changedBy: z.string(),
  changedAt: Time,
  metrics: z.array(Metric),
  headline: z.string(),
  backends: z.array(z.string()),
  targets: z.array(z.string()),
  sections: z.array(Section),
  /** For each section: the words of the selection lists. */
  benchmarks: z.array(z.object({ section: z.string(), name: z.string(), set: z.number().int() })),
  profiles: z.array(z.string()),
  scenarios: z.array(z.string()),
  artifacts: z.number().int(),
  measured: z.number().int(),
});
export type SuiteView = z.infer<typeof SuiteView>;
/** With the definition as it was pushed; parsed by suites/suite.ts. */
export const SuiteDetail = SuiteView.extend({ definition: z.unknown() }).meta({
  id: "SuiteDetail",
});
export type SuiteDetail = z.infer<typeof SuiteDetail>;
export const Suites = z.object({ suites: z.array(SuiteView) }).meta({ id: "Suites" });
export type Suites = z.infer<typeof Suites>;
export const PushSuite = z.strictObject({ definition: z.unknown() }).meta({ id: "PushSuite" });
export type PushSuite = z.infer<typeof PushSuite>;
export const PushedSuite = z
  .object({ name: z.string(), digest: z.string(), changed: z.boolean() })
  .meta({ id: "PushedSuite" });
export type PushedSuite = z.infer<typeof PushedSuite>;

/** One step of a series, which a person may accept or reject. */
export const ChangePointView = z
  .object({
    artifact: z.string(),
    before: z.string(),
    meanBefore: z.number(),
    meanAfter: z.number(),
    change: z.number(),
    p: z.number(),
    fingerprint: z.string(),
    foundAt: Time,
    standing: z.enum(["found", "accepted", "dismissed"]),
    statedBy: z.string().nullable(),
    note: z.string().nullable(),
  })
  .meta({ id: "ChangePointView" });
export type ChangePointView = z.infer<typeof ChangePointView>;

/** A person's statement about a step; `found` removes an earlier one. */
export const ChangePointStatement = z
  .strictObject({
    suite: SuiteWord,
    case: TestCase,
    metric: z.string(),
    fingerprint: z.string().max(200),
    /** The first artifact after the step. A step that was not found can be accepted, too. */
    artifact: ArtifactTag,
    standing: z.enum(["found", "accepted", "dismissed"]),
    note: z.string().max(2_000).nullable().default(null),
  })
  .meta({ id: "ChangePointStatement" });
export type ChangePointStatement = z.input<typeof ChangePointStatement>;

/** Steps of all series of a suite, those of the newest artifacts first. */
export const Steps = z
  .object({
    suite: z.string(),
    since: Time,
    steps: z.array(
      ChangePointView.extend({
        case: TestCase,
        metric: z.string(),
        /** When the artifact was made. */
        datedAt: Time,
        direction: z.enum(["regressed", "improved"]),
      }),
    ),
  })
  .meta({ id: "Steps" });
export type Steps = z.infer<typeof Steps>;

const SeriesPoint = z.object({
  artifact: z.string(),
  datedAt: Time,
  value: z.number(),
  /** All values of its iterations, in their order. */
  samples: z.array(z.number()).optional(),
  collector: z.string(),
  fingerprint: z.string(),
});
type SeriesPoint = z.infer<typeof SeriesPoint>;
/** One case's metric along the main line (or the releases). */
export const Series = z
  .object({
    suite: z.string(),
    case: TestCase,
    metric: Metric,
    kind: z.enum(["master", "release"]),
    points: z.array(SeriesPoint),
    changePoints: z.array(ChangePointView),
  })
  .meta({ id: "Series" });
export type Series = z.infer<typeof Series>;

/** Many series at once, for the page of graphs: values by the artifacts' order, null when not measured. */
export const SeriesGrid = z
  .object({
    suite: z.string(),
    metric: Metric,
    artifacts: z.array(z.object({ tag: z.string(), datedAt: Time })),
    series: z.array(
      z.object({
        case: TestCase,
        fingerprint: z.string(),
        values: z.array(z.number().nullable()),
        /** Change points that were not dismissed, for marks. */
        steps: z.array(z.object({ artifact: z.string(), change: z.number() })).optional(),
      }),
    ),
    /** The number of series that are not sent. */
    leftOut: z.number().int(),
  })
  .meta({ id: "SeriesGrid" });
export type SeriesGrid = z.infer<typeof SeriesGrid>;

/** One queued or running request with when it should begin and end. */
export const QueuedRequest = z.object({
  request: RequestSummary,
  place: z.number().int(),
  because: z.string(),
  estimate: Estimate,
});
export type QueuedRequest = z.infer<typeof QueuedRequest>;

/** The status page: requests in progress and waiting, recently ended ones, and the collectors. */
export const BenchmarkStatus = z
  .object({
    at: Time,
    queue: z.array(QueuedRequest),
    recent: z.array(RequestSummary),
    collectors: z.array(CollectorView),
    /** Problems that need attention: a silent collector, a stalled queue. */
    alarms: z.array(z.string()),
  })
  .meta({ id: "BenchmarkStatus" });
export type BenchmarkStatus = z.infer<typeof BenchmarkStatus>;

/** Searches along the main line for steps of a series. */
export const StartBenchmarkSearch = z
  .strictObject({
    suite: SuiteWord,
    kind: z.enum(["scan", "change-points", "bisect"]),
    case: TestCase,
    /** Default: the suite's headline. */
    metric: z.string().optional(),
    from: ArtifactTag,
    to: ArtifactTag,
    /** For a scan: measure every nth artifact, default all; or `month`, `week`: the first of each. */
    every: z.union([z.int().min(1).max(10_000), z.enum(["week", "month"])]).optional(),
    /** The smallest relative change that counts as a step; default 0.01. */
    least: z.number().min(0.000_1).max(10).default(0.01),
  })
  .meta({ id: "StartBenchmarkSearch" });
export type StartBenchmarkSearch = z.input<typeof StartBenchmarkSearch>;

export const BenchmarkSearchView = z
  .object({
    id: z.uuid(),
    suite: z.string(),
    kind: z.enum(["scan", "change-points", "bisect"]),
    case: TestCase,
    metric: z.string(),
    from: z.string(),
    to: z.string(),
    least: z.number(),
    state: z.enum(["running", "found", "nothing", "failed", "cancelled"]),
    /** The current result, in a sentence. */
    sentence: z.string(),
    /** How many artifacts of the main line are between the two ends. */
    artifacts: z.number().int(),
    /** Artifacts that had to be measured for the search. */
    measured: z.number().int(),
    steps: z.array(
      z.object({
        before: z.string(),
        artifact: z.string(),
        change: z.number(),
        exact: z.boolean(),
      }),
    ),
    points: z.array(z.object({ artifact: z.string(), value: z.number().nullable() })),
    requestedBy: z.string(),
    createdAt: Time,
    endedAt: Time.nullable(),
  })
  .meta({ id: "BenchmarkSearchView" });
export type BenchmarkSearchView = z.infer<typeof BenchmarkSearchView>;
export const BenchmarkSearches = z
  .object({ searches: z.array(BenchmarkSearchView) })
  .meta({ id: "BenchmarkSearches" });
export type BenchmarkSearches = z.infer<typeof BenchmarkSearches>;

/** A distribution of the benchmarks over sets so that all sets take about the same time. */
export const SetBalance = z
  .object({
    suite: z.string(),
    target: z.string(),
    sets: z.array(
      z.object({
        set: z.number().int(),
        benchmarks: z.array(z.string()),
        secondsBefore: z.number(),
        secondsAfter: z.number(),
      }),
    ),
    moves: z.array(
      z.object({ benchmark: z.string(), from: z.number().int(), to: z.number().int() }),
    ),
    /** Benchmarks that were never measured; they stay in their set. */
    unknown: z.array(z.string()),
  })
  .meta({ id: "SetBalance" });
export type SetBalance = z.infer<typeof SetBalance>;

/** The measurements of another tool. */
export const ImportResults = z
  .strictObject({
    suite: SuiteWord,
    /** The commit or version that was measured. */
    artifact: ArtifactTag,
    parent: ArtifactTag.optional(),
    datedAt: Time.optional(),
    kind: RequestKind.default("master"),
    tool: z.enum([
      "hyperfine",
      "criterion",
      "google-benchmark",
      "pytest-benchmark",
      "go-bench",
      "vitest",
      "tinybench",
      "jmh",
    ]),
    target: SuiteWord,
    environment: z
      .record(z.string().max(128), z.string().max(1_024))
      .refine((words) => Object.keys(words).length <= 128, "an environment has at most 128 words")
      .default({}),
    /** The output of the tool, as text. */
    output: z.string().max(20_000_000),
  })
  .meta({ id: "ImportResults" });
export type ImportResults = z.input<typeof ImportResults>;
export const ImportedResults = z
  .object({
    suite: z.string(),
    artifact: z.string(),
    cases: z.number().int(),
    iterations: z.number().int(),
    /** Iterations that existed already and were not changed. */
    kept: z.number().int(),
  })
  .meta({ id: "ImportedResults" });
export type ImportedResults = z.infer<typeof ImportedResults>;
