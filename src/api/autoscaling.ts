import { z } from "zod";
import { Platform } from "#core/platform.ts";

const Count = z.number().int().nonnegative();

/** How a size class of a platform stands, and how many workers it should have. */
export const ScaledClass = z.object({
  platform: Platform,
  sizeClass: Count,
  /** Whether it was declared; otherwise it exists because of its workers. */
  isDeclared: z.boolean(),
  /** As declared; null for any number. */
  leastWorkers: Count,
  mostWorkers: Count.nullable(),
  desired: Count,
  /** Workers that take work now. */
  now: Count,
  /** Further workers, which are drained and end their executions. */
  draining: Count,
  /** The slots of workers that take executions. */
  slots: Count,
  busySlots: Count,
  /** Executions that wait and that this class is the least one to run. */
  queued: Count,
  /** Why so many, in a sentence. */
  reason: z.string(),
  /** Workers that may go, the first one first: as many as there are too many. */
  drain: z.array(z.string()),
});
export type ScaledClass = z.infer<typeof ScaledClass>;

/** For autoscalers. */
export const Autoscaling = z
  .object({
    at: z.iso.datetime(),
    classes: z.array(ScaledClass),
    /** Executions that wait and that no class could run, there or declared. */
    unserved: Count,
  })
  .meta({ id: "Autoscaling" });
export type Autoscaling = z.infer<typeof Autoscaling>;
