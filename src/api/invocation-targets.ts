import { z } from "zod";
import { InvocationActionState } from "./invocation.ts";

const Time = z.iso.datetime();
const Count = z.number().int().nonnegative();

/**
 * How a target went in a build, the worst first.
 *
 * - `failed`: the build tool reports a failure; without build events, the last execution of one of its actions failed.
 * - `flaky`: something failed, and succeeded when it was repeated.
 * - `running`: it has not ended.
 * - `cancelled`: an action was cancelled, and none failed.
 * - `skipped`: the build ended without building it.
 * - `succeeded`: also if all of it was in the cache.
 */
export const TargetState = z.enum([
  "failed",
  "flaky",
  "running",
  "cancelled",
  "skipped",
  "succeeded",
]);
export type TargetState = z.infer<typeof TargetState>;

const outcomeOfTarget = {
  state: TargetState,
  /** The overall status of its tests, as build events report it; null when it is no test, or without build events. */
  testStatus: z.string().nullable(),
  /** As the build tool reports it; else from the first request of an action until the last end. Null when all were hits. */
  durationMs: Count.nullable(),
  /** Executions of its actions, repeated ones too. */
  executed: Count,
  hits: Count,
  /** Actions whose last execution failed. */
  failed: Count,
};

/** How a target went in one build. */
export const TargetInBuild = z.object({
  invocation: z.string(),
  commit: z.string().nullable(),
  branch: z.string().nullable(),
  at: Time,
  /** As build events report it; null while it is being built, when it was left out, and without build events. */
  success: z.boolean().nullable(),
  ...outcomeOfTarget,
});
export type TargetInBuild = z.infer<typeof TargetInBuild>;

export const TargetHistory = z
  .object({ label: z.string(), builds: z.array(TargetInBuild) })
  .meta({ id: "TargetHistory" });
export type TargetHistory = z.infer<typeof TargetHistory>;

/** A target of a build, with how it went in earlier builds. */
export const TargetOfInvocation = z.object({
  label: z.string(),
  /** Empty for the target itself. */
  aspect: z.string(),
  /** The rule, as build events report it; else empty. */
  kind: z.string(),
  /** Why the tool aborted it, such as `SKIPPED: …`; null when it did not abort it. */
  aborted: z.string().nullable(),
  ...outcomeOfTarget,
  /** Its actions that run a test, from the cache or executed. */
  testActions: Count,
  /** Its states in the earlier builds, in their order; null where a build did not have it. */
  earlier: z.array(TargetState.nullable()),
});
export type TargetOfInvocation = z.infer<typeof TargetOfInvocation>;

const EarlierBuild = z.object({
  invocation: z.string(),
  commit: z.string().nullable(),
  branch: z.string().nullable(),
  at: Time,
});

export const InvocationTargets = z
  .object({
    /** Builds of the project before this one, at most 10, the newest first. */
    earlier: z.array(EarlierBuild),
    /** How many targets pass the filter. */
    count: Count,
    /** The worst first. */
    targets: z.array(TargetOfInvocation),
    next: z.string().nullable(),
  })
  .meta({ id: "InvocationTargets" });
export type InvocationTargets = z.infer<typeof InvocationTargets>;

/** One attempt of a shard of a test, by its action. */
export const TestAttempt = z.object({
  /** From 1: of `--runs_per_test`. */
  run: Count,
  /** From 1. */
  shard: Count,
  shards: Count,
  /** From 1, in the order of the requests. */
  attempt: Count,
  configuration: z.string(),
  state: InvocationActionState,
  outcome: z.string().nullable(),
  exitCode: z.number().int().nullable(),
  /** Null when its result came from the cache. */
  executionId: z.uuid().nullable(),
  worker: z.string().nullable(),
  startedAt: Time.nullable(),
  durationMs: Count.nullable(),
});
export type TestAttempt = z.infer<typeof TestAttempt>;

export const TestAttempts = z
  .object({
    label: z.string(),
    /** By run, shard and attempt. */
    attempts: z.array(TestAttempt),
    /** Actions whose command is not in the store any more: their shards are not known, and they are left out. */
    unreadable: Count,
    /** Whether there are more actions than were read. */
    isCut: z.boolean(),
  })
  .meta({ id: "TestAttempts" });
export type TestAttempts = z.infer<typeof TestAttempts>;
