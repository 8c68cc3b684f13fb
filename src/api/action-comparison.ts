import { z } from "zod";

const Time = z.iso.datetime();

/** A run of a job. */
export const RunOfJob = z.object({
  graph: z.string(),
  name: z.string(),
  run: z.number().int(),
  commit: z.string(),
});

/** One of two actions that are compared, with the execution that it comes from. */
export const ComparedAction = z.object({
  /** `<hash>/<size>`. */
  actionDigest: z.string(),
  /** Null when its result came from the cache. */
  executionId: z.uuid().nullable(),
  outcome: z.string().nullable(),
  worker: z.string().nullable(),
  /** When it was requested. */
  at: Time,
  /** The run of a job that it served; null for an action of a build tool. */
  job: RunOfJob.nullable(),
  /** The request of a build tool that it served; null for a job. */
  request: z
    .object({
      project: z.string(),
      invocation: z.string(),
      target: z.string(),
      mnemonic: z.string(),
    })
    .nullable(),
});
export type ComparedAction = z.infer<typeof ComparedAction>;

/** A difference between two commands, or between the settings of two actions. A value is null where there is none. */
export const CommandDifference = z.object({
  part: z.enum(["argument", "environment", "platform", "working directory", "setting"]),
  /**
   * The name of the variable, the property or the setting (`timeout`, `do not cache`, `salt`, `outputs`), or the position
   * of the argument, counted from 0.
   */
  name: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
});
export type CommandDifference = z.infer<typeof CommandDifference>;

/** A path at which two input trees differ. */
export const InputDifference = z.object({
  path: z.string(),
  change: z.enum(["added", "removed", "changed"]),
});
export type InputDifference = z.infer<typeof InputDifference>;

/** How two actions differ. */
export const ActionDifferences = z.object({
  isSameAction: z.boolean(),
  command: z.array(CommandDifference),
  inputs: z.array(InputDifference),
  /** Whether there may be more differences than these lists have. */
  isCut: z.boolean(),
  /** What could not be compared, as a sentence; null when everything could. */
  unreadable: z.string().nullable(),
});
export type ActionDifferences = z.infer<typeof ActionDifferences>;

export const ActionComparison = z
  .object({
    after: ComparedAction,
    /** Null when there is none to compare with. */
    before: ComparedAction.nullable(),
    /** Null without `before`. */
    differences: ActionDifferences.nullable(),
  })
  .meta({ id: "ActionComparison" });
export type ActionComparison = z.infer<typeof ActionComparison>;
