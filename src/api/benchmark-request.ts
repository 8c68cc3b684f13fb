import { z } from "zod";
import { Section, SuiteWord } from "#core/test-case.ts";

const Time = z.iso.datetime();

export const RequestKind = z.enum(["master", "release", "try"]);
export type RequestKind = z.infer<typeof RequestKind>;

/** A request's state; the last three are terminal and never change. */
export const RequestState = z.enum([
  "waiting-for-artifacts",
  "artifacts-ready",
  "in-progress",
  "completed",
  "failed",
  "cancelled",
]);
export type RequestState = z.infer<typeof RequestState>;

export const JobState = z.enum(["queued", "in-progress", "success", "failure", "cancelled"]);
export type BenchmarkJobState = z.infer<typeof JobState>;

/**
 * Why a job exists: measuring the request itself, missing parents, pairs for noisy metrics, or an independent rerun of
 * doubtful cases.
 */
export const JobPurpose = z.enum(["own", "backfill", "paired", "confirm"]);
export type JobPurpose = z.infer<typeof JobPurpose>;

/** A readable name: a version, a nightly's day, a commit. */
export const ArtifactTag = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._+/-]{0,119}$/, {
  error: "must be at most 120 letters, digits and . _ + / -",
});
export type ArtifactTag = z.infer<typeof ArtifactTag>;

/** The limit for the runs of a case in a suite. */
export const mostRuns = 50;

/** Requests the measurement of an artifact. */
export const SubmitBenchmarkRequest = z
  .strictObject({
    suite: SuiteWord,
    artifact: ArtifactTag,
    /** For an unknown artifact: a tarball in the farm's store (`HASH/SIZE`) for each backend. */
    tarballs: z.record(SuiteWord, z.string().regex(/^[0-9a-f]{64}\/\d{1,15}$/)).optional(),
    /** Wait until the artifact is announced. */
    waitForArtifacts: z.boolean().default(false),
    kind: RequestKind.optional(),
    /** The artifact to compare with; default: its predecessor. */
    parent: ArtifactTag.optional(),
    pr: z.int().min(0).optional(),
    backends: z.array(SuiteWord).max(50).default([]),
    profiles: z.array(SuiteWord).max(50).default([]),
    targets: z.array(SuiteWord).max(50).default([]),
    benchmarks: z.array(SuiteWord).max(500).default([]),
    paired: z.boolean().optional(),
    /**
     * How often each case is run, in both ways; default: as in the suite. Never fewer, because figures would not be
     * comparable.
     */
    runs: z.int().min(1).max(mostRuns).optional(),
    /**
     * `missing`: also request parents that were not measured. `none`: do not, but measure what the comparison with the
     * parent needs. `alone`: measure it without a comparison.
     */
    parents: z.enum(["missing", "none", "alone"]).default("missing"),
  })
  .meta({ id: "SubmitBenchmarkRequest" });
export type SubmitBenchmarkRequest = z.input<typeof SubmitBenchmarkRequest>;

export const ArtifactView = z.object({
  tag: z.string(),
  kind: RequestKind,
  datedAt: Time,
  parent: z.string().nullable(),
  commit: z.string().nullable(),
  backends: z.array(z.string()),
  /** The state of its latest request. */
  state: RequestState.nullable(),
});
export type ArtifactView = z.infer<typeof ArtifactView>;
export const Artifacts = z
  .object({
    artifacts: z.array(ArtifactView),
    next: z.string().nullable(),
  })
  .meta({ id: "Artifacts" });
export type Artifacts = z.infer<typeof Artifacts>;

/** The expected begin and end, from earlier durations; `least` and `most` are correct in nine of ten cases. */
export const Estimate = z.object({
  startsAt: Time.nullable(),
  endsAt: Time.nullable(),
  leastEndsAt: Time.nullable(),
  mostEndsAt: Time.nullable(),
});
export type Estimate = z.infer<typeof Estimate>;

export const RequestSummary = z.object({
  id: z.uuid(),
  suite: z.string(),
  artifact: z.string(),
  parent: z.string().nullable(),
  kind: RequestKind,
  pr: z.number().int().nullable(),
  state: RequestState,
  backends: z.array(z.string()),
  profiles: z.array(z.string()),
  targets: z.array(z.string()),
  benchmarks: z.array(z.string()),
  paired: z.boolean(),
  /** Null: as in the suite. */
  runs: z.number().int().nullable(),
  requestedBy: z.string(),
  because: z.string(),
  createdAt: Time,
  startedAt: Time.nullable(),
  endedAt: Time.nullable(),
  endedBy: z.string().nullable(),
  jobs: z.object({ total: z.number().int(), ended: z.number().int(), failed: z.number().int() }),
  errors: z.number().int(),
});
export type RequestSummary = z.infer<typeof RequestSummary>;

export const BenchmarkJobView = z.object({
  id: z.uuid(),
  artifact: z.string(),
  against: z.string().nullable(),
  purpose: JobPurpose,
  section: Section,
  target: z.string(),
  backend: z.string(),
  profile: z.string(),
  set: z.number().int(),
  benchmarks: z.array(z.string()),
  /** Null: as in the suite. */
  runs: z.number().int().nullable(),
  optional: z.boolean(),
  state: JobState,
  attempts: z.number().int(),
  maxAttempts: z.number().int(),
  collector: z.string().nullable(),
  createdAt: Time,
  startedAt: Time.nullable(),
  endedAt: Time.nullable(),
  error: z.string().nullable(),
  /** Recent duration of similar jobs, in seconds; null when unknown. */
  usualSeconds: z.number().nullable(),
});
export type BenchmarkJobView = z.infer<typeof BenchmarkJobView>;

export const BenchmarkErrorView = z.object({
  artifact: z.string(),
  /** Empty: the whole job. */
  benchmark: z.string(),
  case: z.string().nullable(),
  message: z.string(),
  at: Time,
});
export type BenchmarkErrorView = z.infer<typeof BenchmarkErrorView>;

export const RequestDetail = RequestSummary.extend({
  jobList: z.array(BenchmarkJobView),
  errorList: z.array(BenchmarkErrorView),
  /** Its position in the queue, from 1, while it waits, and the reason for it. */
  place: z.number().int().nullable(),
  placeBecause: z.string().nullable(),
  estimate: Estimate,
  hasReport: z.boolean(),
  /** Its jobs that no active collector may run: a sentence with advice for each target and set. */
  unserved: z.array(z.string()),
}).meta({ id: "RequestDetail" });
export type RequestDetail = z.infer<typeof RequestDetail>;

/** States that the artifacts of a request exist; for unknown artifacts, also where. */
export const ArtifactsReady = z
  .strictObject({
    tarballs: SubmitBenchmarkRequest.shape.tarballs,
  })
  .meta({ id: "ArtifactsReady" });

/** A tarball in the farm's store, in the form that `tarballs` of a request uses: `HASH/SIZE`. */
export const KeptTarball = z.object({ digest: z.string() }).meta({ id: "KeptTarball" });

/** The result of a request. */
export const SubmittedRequest = z
  .object({
    request: RequestSummary,
    /** `added`: to a request in progress; `nothing-missing`: that request already contains everything. */
    outcome: z.enum(["created", "added", "nothing-missing"]),
    sentence: z.string(),
    /** Parents that were requested together with it. */
    parents: z.array(z.string()),
  })
  .meta({ id: "SubmittedRequest" });
export type SubmittedRequest = z.infer<typeof SubmittedRequest>;

export const Requests = z
  .object({
    requests: z.array(RequestSummary),
    next: z.string().nullable(),
  })
  .meta({ id: "Requests" });
export type Requests = z.infer<typeof Requests>;
