import { z } from "zod";
import { Metric, MetricValues } from "#core/benchmark-metric.ts";
import { SuiteWord, TestCase } from "#core/test-case.ts";
import { BenchmarkJobView, JobPurpose, JobState } from "./benchmark-request.ts";

const Time = z.iso.datetime();

export const CollectorName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,59}$/, {
  error: "must be at most 60 lower-case letters, digits and . _ -",
});
export type CollectorName = z.infer<typeof CollectorName>;

/** Registers a collector. */
export const AddCollector = z
  .strictObject({
    name: CollectorName,
    target: SuiteWord,
    /** Null: all sets. */
    set: z.int().min(0).max(99).nullable(),
    /** Sets that it may take over when their collectors are silent. */
    mayTakeOver: z.array(z.int().min(0).max(99)).max(100).default([]),
    active: z.boolean().default(true),
  })
  .meta({ id: "AddCollector" });
export type AddCollector = z.input<typeof AddCollector>;

export const ChangeCollector = z
  .strictObject({
    active: z.boolean().optional(),
    set: z.int().min(0).max(99).nullable().optional(),
    mayTakeOver: z.array(z.int().min(0).max(99)).max(100).optional(),
    /** Null: active again. */
    outOfDuty: z.string().min(1).max(500).nullable().optional(),
  })
  .meta({ id: "ChangeCollector" });
export type ChangeCollector = z.infer<typeof ChangeCollector>;

/** Facts about the machine and its software that may change a figure. */
export const EnvironmentFacts = z.record(z.string().max(80), z.string().max(500));
export type EnvironmentFacts = z.infer<typeof EnvironmentFacts>;

/**
 * `inactive` and `out-of-duty`: set by a person; `offline`: no messages arrive; `never-seen`: it has not connected yet.
 */
export const CollectorState = z.enum([
  "never-seen",
  "offline",
  "inactive",
  "out-of-duty",
  "waiting",
  "measuring",
]);
export type CollectorState = z.infer<typeof CollectorState>;

export const CollectorView = z
  .object({
    name: z.string(),
    target: z.string(),
    set: z.number().int().nullable(),
    mayTakeOver: z.array(z.number().int()),
    active: z.boolean(),
    outOfDuty: z.string().nullable(),
    state: CollectorState,
    addedAt: Time,
    lastHeartbeatAt: Time.nullable(),
    version: z.string().nullable(),
    environment: EnvironmentFacts.nullable(),
    fingerprint: z.string().nullable(),
    job: BenchmarkJobView.nullable(),
    /** The mean of its last 20 successful jobs. */
    meanJobSeconds: z.number().nullable(),
    selfTest: z
      .object({
        at: Time,
        passed: z.boolean(),
        comparisons: z.number().int(),
        alarms: z.number().int(),
      })
      .nullable(),
  })
  .meta({ id: "CollectorView" });
export type CollectorView = z.infer<typeof CollectorView>;
export const Collectors = z
  .object({ collectors: z.array(CollectorView) })
  .meta({ id: "Collectors" });
export type Collectors = z.infer<typeof Collectors>;

/** The collector is no longer registered. */
export const RemovedCollector = z.object({}).meta({ id: "RemovedCollector" });

// The messages between a collector and its server. Every call is independent and safe to repeat.

/** Starts the session of a process for a collector; the previous process is refused from then on. */
export const CollectorHello = z
  .strictObject({
    incarnation: z.uuid(),
    version: z.string().max(100),
    environment: EnvironmentFacts,
  })
  .meta({ id: "CollectorHello" });
export type CollectorHello = z.infer<typeof CollectorHello>;
export const CollectorWelcome = z
  .object({
    fingerprint: z.string(),
    /** The target that it is registered for. */
    target: z.string(),
    /** The server's own version. A collector with a different version updates itself between requests. */
    serverVersion: z.string(),
    heartbeatMs: z.number().int(),
  })
  .meta({ id: "CollectorWelcome" });
export type CollectorWelcome = z.infer<typeof CollectorWelcome>;

export const ClaimBenchmarkJob = z
  .strictObject({
    incarnation: z.uuid(),
    /** How long the answer may wait for a job. */
    waitMs: z.int().min(0).max(60_000),
  })
  .meta({ id: "ClaimBenchmarkJob" });
export type ClaimBenchmarkJob = z.infer<typeof ClaimBenchmarkJob>;

/** A metric of a case that seems changed, and its direction: for a job that confirms it. */
export const ChangeToConfirm = z.object({
  case: TestCase,
  metric: z.string(),
  direction: z.enum(["regressed", "improved"]),
});
export type ChangeToConfirm = z.infer<typeof ChangeToConfirm>;

/** An artifact for a collector: the component for the job's backend. Parsed by artifacts/component.ts. */
const ArtifactToGet = z.object({ tag: z.string(), component: z.unknown() });

export const ClaimedBenchmarkJob = z.object({
  id: z.uuid(),
  epoch: z.number().int(),
  attempt: z.number().int(),
  purpose: JobPurpose,
  requestId: z.uuid(),
  suite: z.string(),
  suiteDigest: z.string(),
  /** Parsed by suites/suite.ts. */
  definition: z.unknown(),
  artifact: ArtifactToGet,
  against: ArtifactToGet.nullable(),
  /** The cases to measure, in this order. Stored cases are left out (for pairs: with so many pairs). */
  cases: z.array(
    z.object({
      case: TestCase,
      storedPairs: z.number().int(),
      /** The number of iterations, and the number of the last earlier one; when absent, as in the suite. */
      iterations: z.object({ after: z.number().int(), count: z.number().int() }).optional(),
    }),
  ),
  doubts: z.array(ChangeToConfirm),
  leaseMs: z.number().int(),
});
export type ClaimedBenchmarkJob = z.infer<typeof ClaimedBenchmarkJob>;
export const ClaimAnswer = z
  .object({
    job: ClaimedBenchmarkJob.nullable(),
    /** Null: there is work for it. Otherwise why there is none, for its log. */
    because: z.string().nullable(),
    serverVersion: z.string(),
    /**
     * Whether it should compare an artifact with itself before its next claim, or after the present job. Also applies
     * to a collector that is out of duty.
     */
    selfTestDue: z.boolean().default(false),
  })
  .meta({ id: "ClaimAnswer" });
export type ClaimAnswer = z.infer<typeof ClaimAnswer>;

/** The holder of a job: calls of other holders are refused with `aborted`, and that collector drops the job. */
export const JobHolder = z.strictObject({
  collector: CollectorName,
  incarnation: z.uuid(),
  epoch: z.int().min(1),
});
export type JobHolder = z.infer<typeof JobHolder>;

export const JobHeartbeat = z.strictObject({ holder: JobHolder }).meta({ id: "JobHeartbeat" });
export type JobHeartbeat = z.infer<typeof JobHeartbeat>;
export const JobHeartbeatAnswer = z
  .object({ cancelled: z.boolean(), leaseMs: z.number().int() })
  .meta({ id: "JobHeartbeatAnswer" });
export type JobHeartbeatAnswer = z.infer<typeof JobHeartbeatAnswer>;

export const MeasuredIteration = z.strictObject({
  iteration: z.int().min(1).max(1_000),
  values: MetricValues,
  warnings: z.array(z.string().max(200)).max(20).default([]),
});
export type MeasuredIteration = z.input<typeof MeasuredIteration>;

const MeasuredPair = z.strictObject({
  pair: z.int().min(1).max(1_000),
  parentFirst: z.boolean(),
  child: MetricValues,
  parent: MetricValues,
});
type MeasuredPair = z.infer<typeof MeasuredPair>;

/** The results of one test, or some of its pairs, or its failure. Stored completely or not at all. */
export const ReportTest = z
  .strictObject({
    holder: JobHolder,
    case: TestCase,
    metrics: z.array(Metric).max(100),
    iterations: z.array(MeasuredIteration).max(1_000).default([]),
    pairs: z.array(MeasuredPair).max(1_000).default([]),
    error: z.string().max(20_000).optional(),
  })
  .meta({ id: "ReportTest" });
export type ReportTest = z.input<typeof ReportTest>;

/**
 * `transient`: retried later. `handed-back`: the collector stops (an update, a shutdown of its machine); this does not
 * count as an attempt.
 */
export const JobEnd = z.discriminatedUnion("outcome", [
  z.strictObject({ outcome: z.literal("success") }),
  z.strictObject({ outcome: z.literal("transient"), error: z.string().max(20_000) }),
  z.strictObject({ outcome: z.literal("permanent"), error: z.string().max(20_000) }),
  z.strictObject({ outcome: z.literal("handed-back"), why: z.string().max(500) }),
]);
export type JobEnd = z.infer<typeof JobEnd>;
export const EndBenchmarkJob = z
  .strictObject({ holder: JobHolder, end: JobEnd })
  .meta({ id: "EndBenchmarkJob" });
export type EndBenchmarkJob = z.infer<typeof EndBenchmarkJob>;
/** The new state of the job: `queued` when it will be retried. */
export const EndedBenchmarkJob = z.object({ state: JobState }).meta({ id: "EndedBenchmarkJob" });
export type EndedBenchmarkJob = z.infer<typeof EndedBenchmarkJob>;
/** The number of new parts in a report; repeated parts are stored once. */
export const ReportedTest = z
  .object({
    iterations: z.number().int(),
    pairs: z.number().int(),
  })
  .meta({ id: "ReportedTest" });
export type ReportedTest = z.infer<typeof ReportedTest>;

export const ReportSelfTest = z
  .strictObject({
    incarnation: z.uuid(),
    comparisons: z.int().min(0).max(100_000),
    alarms: z.int().min(0).max(100_000),
    detail: z.record(z.string(), z.unknown()).default({}),
    /** |relative change| by case and metric, for practical limits. */
    noise: z
      .array(
        z.strictObject({
          suite: SuiteWord,
          case: TestCase,
          metric: z.string(),
          change: z.number().min(0),
        }),
      )
      .max(10_000)
      .default([]),
  })
  .meta({ id: "ReportSelfTest" });
export type ReportSelfTest = z.input<typeof ReportSelfTest>;
export const ReportedSelfTest = z
  .object({
    passed: z.boolean(),
    /** Why the collector gets no more work; null while it does. */
    outOfDuty: z.string().nullable(),
  })
  .meta({ id: "ReportedSelfTest" });
export type ReportedSelfTest = z.infer<typeof ReportedSelfTest>;
