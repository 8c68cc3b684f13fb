import { z } from "zod";
import { Platform } from "#core/platform.ts";

const Count = z.number().int().nonnegative();

/** The current state of a size class of a platform, and how many workers it should have. */
export const ScaledClass = z.object({
  platform: Platform,
  sizeClass: Count,
  /** True when it was declared; false when it exists only because of its workers. */
  isDeclared: z.boolean(),
  /** As declared; null for no limit. */
  leastWorkers: Count,
  mostWorkers: Count.nullable(),
  desired: Count,
  /** Workers that accept work now. */
  now: Count,
  /** Further workers that are drained and finish their executions. */
  draining: Count,
  /** The slots of workers that accept executions. */
  slots: Count,
  busySlots: Count,
  /** Queued executions for which this is the smallest suitable class. */
  queued: Count,
  /** The reason for the number, in a sentence. */
  reason: z.string(),
  /** The surplus workers that may be stopped, the first one first. */
  drain: z.array(z.string()),
});
export type ScaledClass = z.infer<typeof ScaledClass>;

/** For autoscalers. */
export const Autoscaling = z
  .object({
    at: z.iso.datetime(),
    classes: z.array(ScaledClass),
    /** Queued executions that no existing or declared class could run. */
    unserved: Count,
  })
  .meta({ id: "Autoscaling" });
export type Autoscaling = z.infer<typeof Autoscaling>;
