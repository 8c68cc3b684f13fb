import { z } from "zod";

const Time = z.iso.datetime();
const Count = z.number().int().nonnegative();
const Class = z.number().int().positive();

/** The estimate for one class. */
export const SizeClassAlternative = z.object({
  sizeClass: Class,
  /** The expected running time; null when unknown. */
  expectedMs: z.number().nullable(),
  /** 10 % of runs are faster than `fastMs`, and 10 % are slower than `slowMs`. */
  band: z.object({ fastMs: z.number(), slowMs: z.number() }).nullable(),
  waitMs: z.number(),
  /** The cost of its time, the delay, and possible retries, in the farm's unit: the value that strategies compare. */
  cost: z.number().nullable(),
  /** The probability of a failure there, from 0 to 1. */
  risk: z.number().nullable(),
  /** The probability with which it was drawn, for strategies that draw. */
  probability: z.number().nullable(),
  remark: z.string().nullable(),
});
export type SizeClassAlternative = z.infer<typeof SizeClassAlternative>;

/** One attempt, with the facts that size classes need. */
export const SizeClassRun = z.object({
  /** A different one than the decision's when this is a parallel second run. */
  executionId: z.uuid(),
  attempt: Count,
  sizeClass: Class,
  worker: z.string().nullable(),
  startedAt: Time.nullable(),
  finishedAt: Time.nullable(),
  durationMs: z.number().nonnegative().nullable(),
  /** Null while it runs. */
  outcome: z.string().nullable(),
  message: z.string(),
  timeoutMs: Count.nullable(),
  exitCode: z.number().int().nullable(),
  cpuMs: Count.nullable(),
  peakMemoryBytes: Count.nullable(),
});
export type SizeClassRun = z.infer<typeof SizeClassRun>;

const sizeClassLevels = ["action", "target", "mnemonic", "platform"] as const;

/** The key under which past runs of an execution are stored. */
const KeyAddress = z.object({
  project: z.string(),
  domain: z.string(),
  key: z.string(),
  level: z.enum(sizeClassLevels),
  /** The title of the latest execution; empty without one. */
  title: z.string(),
});

/** A choice of a class, with its known facts, alternatives and outcome. */
export const SizeClassDecision = KeyAddress.extend({
  executionId: z.uuid(),
  number: Count,
  purpose: z.enum(["first", "retry", "hedge", "background"]),
  strategy: z.string(),
  decidedAt: Time,
  sizeClass: Class,
  /** Whether only this class was allowed; otherwise an idle worker of a greater class may have run it. */
  isExact: z.boolean(),
  expectedMs: z.number(),
  timeoutMs: z.number(),
  /** A random number from 0 to 1, the only source of chance. */
  draw: z.number(),
  reason: z.object({ kind: z.string(), text: z.string() }),
  alternatives: z.array(SizeClassAlternative),
  runs: z.array(SizeClassRun),
  /** The complete decision as sentences. */
  sentences: z.array(z.string()),
});
export type SizeClassDecision = z.infer<typeof SizeClassDecision>;

/** Why an execution runs on its size class. */
export const ExecutionSizeClass = z
  .object({
    executionId: z.uuid(),
    /** The original execution, when this is a second run; the decisions belong to the original. */
    secondRunOf: z.uuid().nullable(),
    state: z.enum(["queued", "leased", "finished"]),
    sizeClass: Class,
    /** The requested smallest class. */
    leastSizeClass: Class,
    mostSizeClass: Class.nullable(),
    /** One sentence: the choice, or the reason why there was none. */
    sentence: z.string(),
    decisions: z.array(SizeClassDecision),
  })
  .meta({ id: "ExecutionSizeClass" });
export type ExecutionSizeClass = z.infer<typeof ExecutionSizeClass>;

/** The estimated saving compared with always choosing the greatest possible class. */
export const SizeClassSaved = z.object({
  /** In the farm's unit; may be negative. */
  amount: z.number(),
  /** The number of executions in the sum. */
  executions: Count,
  /** The number of executions left out, because their time on the greatest class is unknown. */
  unknown: Count,
});
export type SizeClassSaved = z.infer<typeof SizeClassSaved>;

/** The present state of a size class of a platform, with its executions of the last 24 hours. */
export const SizeClassNow = z.object({
  sizeClass: Class,
  isDeclared: z.boolean(),
  workers: Count,
  draining: Count,
  silent: Count,
  slots: Count,
  busy: Count,
  queued: Count,
  /** The expected wait of a new execution for a slot; null when it is unknownor there is no slot. */
  expectedWaitMs: z.number().nonnegative().nullable(),
  cpus: z.number().nullable(),
  memoryBytes: z.number().nullable(),
  /** The price of one second of one slot. */
  price: z.number(),
  runs: Count,
  /** The executions that ended on this class. */
  executions: Count,
  /** The share of the platform's executions; null without executions. */
  share: z.number().nullable(),
  busySeconds: z.number().nonnegative(),
  cost: z.number(),
  /** The saving from choosing this class. */
  saved: SizeClassSaved,
});
export type SizeClassNow = z.infer<typeof SizeClassNow>;

/** The recent period: 24 hours, or the limit of executions that are read. */
export const SizeClassWindow = z.object({ since: Time, executions: Count, isCut: z.boolean() });
export type SizeClassWindow = z.infer<typeof SizeClassWindow>;

export const SizeClassPlatform = z.object({
  /** Its properties in one line, which identify it in addresses. */
  name: z.string(),
  platform: z.record(z.string(), z.string()),
  classes: z.array(SizeClassNow),
  saved: SizeClassSaved,
});
export type SizeClassPlatform = z.infer<typeof SizeClassPlatform>;

export const SizeClasses = z
  .object({
    lately: SizeClassWindow,
    platforms: z.array(SizeClassPlatform),
    saved: SizeClassSaved,
  })
  .meta({ id: "SizeClasses" });
export type SizeClasses = z.infer<typeof SizeClasses>;

/** A key with its recent costs. */
export const SizeClassKeySummary = KeyAddress.extend({
  executions: Count,
  busySeconds: z.number().nonnegative(),
  cost: z.number(),
  lastSeenAt: Time.nullable(),
});
export type SizeClassKeySummary = z.infer<typeof SizeClassKeySummary>;

export const SizeClassKeys = z
  .object({
    lately: SizeClassWindow,
    keys: z.array(SizeClassKeySummary),
    next: z.string().nullable(),
  })
  .meta({ id: "SizeClassKeys" });
export type SizeClassKeys = z.infer<typeof SizeClassKeys>;

export const SizeClassDetail = z
  .object({
    lately: SizeClassWindow,
    name: z.string(),
    platform: z.record(z.string(), z.string()),
    /** The other classes of the platform. */
    others: z.array(Class),
    class: SizeClassNow,
    /** Oldest first, including hours without executions. */
    hours: z.array(
      z.object({ from: Time, runs: Count, busySeconds: z.number(), cost: z.number() }),
    ),
    /** The most expensive keys. */
    keys: z.array(SizeClassKeySummary),
  })
  .meta({ id: "SizeClassDetail" });
export type SizeClassDetail = z.infer<typeof SizeClassDetail>;

/** A stored past run. */
export const SizeClassPastRun = z.object({
  end: z.enum(["succeeded", "failed", "timed_out", "out_of_memory"]),
  durationMs: z.number().nonnegative(),
  timeoutMs: z.number().positive(),
  cpuMs: z.number().nonnegative().nullable(),
  peakMemoryBytes: z.number().nonnegative().nullable(),
  at: Time,
});
export type SizeClassPastRun = z.infer<typeof SizeClassPastRun>;

/** Everything that is stored under a key. */
export const SizeClassKeyDetail = KeyAddress.extend({
  lastSeenAt: Time,
  lastFailureAt: Time.nullable(),
  failuresInARow: Count,
  classes: z.array(
    z.object({
      sizeClass: Class,
      /** Oldest first, the last 32. */
      runs: z.array(SizeClassPastRun),
      /** From the latest decision with an estimate. */
      estimate: SizeClassAlternative.nullable(),
    }),
  ),
  /** The newest first, the last 20. */
  decisions: z.array(SizeClassDecision),
}).meta({ id: "SizeClassKeyDetail" });
export type SizeClassKeyDetail = z.infer<typeof SizeClassKeyDetail>;

export const sizeClassStrategies = ["smallest", "largest", "adr", "pagerank", "grange"] as const;

/** How size classes are chosen; the same as `src/size-classes/settings.ts`, for API clients. */
const Settings = z.strictObject({
  strategy: z.enum(sizeClassStrategies),
  priceOfDelay: z.number().nonnegative(),
  greaterMayTake: z.boolean(),
  acceptableIncreaseExponent: z.number().min(0).max(1),
  timeoutMultiplier: z.number().min(1),
  minimumAcceptableMs: z.number().positive(),
  failureBoostMs: z.number().nonnegative(),
  convergenceError: z.number().positive(),
  mostBackgroundRuns: z.number().int().nonnegative(),
});
/** The values of a server; a later version may have more. */
export const SizeClassSettingValues = z.object(Settings.shape);
export type SizeClassSettingValues = z.infer<typeof SizeClassSettingValues>;
export type SizeClassSettingName = keyof SizeClassSettingValues;
export const sizeClassSettingNames = Object.keys(Settings.shape) as SizeClassSettingName[];

export const SizeClassSettingsNow = z
  .object({
    settings: SizeClassSettingValues,
    /** The defaults. */
    usual: SizeClassSettingValues,
    /** Null for the defaults. */
    changedBy: z.string().nullable(),
    changedAt: Time.nullable(),
  })
  .meta({ id: "SizeClassSettingsNow" });
export type SizeClassSettingsNow = z.infer<typeof SizeClassSettingsNow>;

/** The values to change; null restores the default. Absent values stay unchanged. */
export const SetSizeClassSettings = z
  .strictObject({
    strategy: Settings.shape.strategy.nullish(),
    priceOfDelay: Settings.shape.priceOfDelay.nullish(),
    greaterMayTake: Settings.shape.greaterMayTake.nullish(),
    acceptableIncreaseExponent: Settings.shape.acceptableIncreaseExponent.nullish(),
    timeoutMultiplier: Settings.shape.timeoutMultiplier.nullish(),
    minimumAcceptableMs: Settings.shape.minimumAcceptableMs.nullish(),
    failureBoostMs: Settings.shape.failureBoostMs.nullish(),
    convergenceError: Settings.shape.convergenceError.nullish(),
    mostBackgroundRuns: Settings.shape.mostBackgroundRuns.nullish(),
  })
  .meta({ id: "SetSizeClassSettings" });
export type SetSizeClassSettings = z.infer<typeof SetSizeClassSettings>;
