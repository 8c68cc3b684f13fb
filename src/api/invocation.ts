import { z } from "zod";

const Time = z.iso.datetime();
const Count = z.number().int().nonnegative();

/** `<hash>/<size>`, as in `/api/v1/blobs/<hash>/<size>?project=<project>`. */
const BlobKey = z.string();

/**
 * The state of an invocation.
 *
 * Only tools that send build events report their end: without a reported end, the state is `silent`. Other tools are
 * `over` when they neither call nor wait any more.
 */
export const InvocationState = z.enum([
  "running",
  "succeeded",
  "failed",
  "cancelled",
  "over",
  "silent",
]);
export type InvocationState = z.infer<typeof InvocationState>;

/** The requests of an invocation, counted. */
export const InvocationCounts = z.object({
  /** Answered from the action cache. */
  hits: Count,
  queued: Count,
  executing: Count,
  succeeded: Count,
  failed: Count,
  /** Cancelled before they had a result. */
  cancelled: Count,
});
export type InvocationCounts = z.infer<typeof InvocationCounts>;

/** One run of a build tool, as a row in a list. */
export const InvocationSummary = z.object({
  project: z.string(),
  id: z.string(),
  state: InvocationState,
  tool: z.object({ name: z.string(), version: z.string() }),
  principal: z.string(),
  startedAt: Time,
  /** The time of the last activity, until it is over. */
  endedAt: Time,
  counts: InvocationCounts,
  /** The content of its build events; null when it sent none. */
  build: z
    .object({
      /** `build`, `test`, … */
      command: z.string(),
      patterns: z.array(z.string()),
      user: z.string(),
      host: z.string(),
      repository: z.string().nullable(),
      branch: z.string().nullable(),
      commit: z.string().nullable(),
      exitCode: z.number().int().nullable(),
      exitName: z.string().nullable(),
    })
    .nullable(),
});
export type InvocationSummary = z.infer<typeof InvocationSummary>;

export const InvocationList = z
  .object({
    invocations: z.array(InvocationSummary),
    /** Pass it as `before` to get older ones; null on the last page. */
    next: z.string().nullable(),
  })
  .meta({ id: "InvocationList" });
export type InvocationList = z.infer<typeof InvocationList>;

const NamedBlob = z.object({
  name: z.string(),
  /** Null when the file is not in the farm's store; then only the tool knows its location. */
  blob: BlobKey.nullable(),
  /** The project whose store contains the file. */
  project: z.string().nullable(),
  uri: z.string(),
});

export const InvocationTest = z.object({
  run: Count,
  shard: Count,
  attempt: Count,
  /** `PASSED`, `FLAKY`, `TIMEOUT`, `FAILED`, … */
  status: z.string(),
  startedAt: Time.nullable(),
  durationMs: Count,
  cached: z.boolean(),
  files: z.array(NamedBlob),
});
export type InvocationTest = z.infer<typeof InvocationTest>;

export const InvocationTarget = z.object({
  label: z.string(),
  kind: z.string(),
  /** Null while it is being built, and when it was left out; then `aborted` contains the reason. */
  success: z.boolean().nullable(),
  /** Why the tool aborted it, such as `SKIPPED: …`; null when it did not abort it. */
  aborted: z.string().nullable(),
  /** The overall status of its tests, when it is a test. */
  testStatus: z.string().nullable(),
  durationMs: Count.nullable(),
  tests: z.array(InvocationTest),
  outputs: z.array(NamedBlob),
});
export type InvocationTarget = z.infer<typeof InvocationTarget>;

export const InvocationDetail = InvocationSummary.extend({
  /** An id chosen by the tool; related invocations have the same one. */
  correlatedId: z.string(),
  /** One sentence on why nothing of it runs; null when something does, or nothing waits. */
  waiting: z.string().nullable(),
  events: z
    .object({
      /** All events arrived, in order, including the last one. */
      complete: z.boolean(),
      options: z.array(z.string()),
      metadata: z.record(z.string(), z.string()),
      workspaceStatus: z.record(z.string(), z.string()),
      failure: z.string().nullable(),
      /** The size of the tool's output. */
      logBytes: Count,
      profile: NamedBlob.nullable(),
      targets: z.array(InvocationTarget),
      /** Whether there are more targets than listed. */
      moreTargets: z.boolean(),
      /** Events that were accepted but had no readable content. */
      unreadableEvents: Count.default(0),
      /** The tool's own metrics, such as the wall time in ms. */
      metrics: z.record(z.string(), z.number()),
    })
    .nullable(),
}).meta({ id: "InvocationDetail" });
export type InvocationDetail = z.infer<typeof InvocationDetail>;

export const InvocationActionState = z.enum([
  "hit",
  "queued",
  "executing",
  "succeeded",
  "failed",
  "cancelled",
]);
export type InvocationActionState = z.infer<typeof InvocationActionState>;

/** One action of an invocation. */
export const InvocationAction = z.object({
  actionDigest: BlobKey,
  target: z.string(),
  mnemonic: z.string(),
  configuration: z.string(),
  state: InvocationActionState,
  /** Its execution; null for a hit. */
  executionId: z.uuid().nullable(),
  /** Another invocation had requested it before. */
  joined: z.boolean(),
  requestedAt: Time,
  startedAt: Time.nullable(),
  finishedAt: Time.nullable(),
  worker: z.string().nullable(),
  outcome: z.string().nullable(),
  exitCode: z.number().int().nullable(),
});
export type InvocationAction = z.infer<typeof InvocationAction>;

export const InvocationActions = z
  .object({
    actions: z.array(InvocationAction),
    next: z.string().nullable(),
  })
  .meta({ id: "InvocationActions" });
export type InvocationActions = z.infer<typeof InvocationActions>;
