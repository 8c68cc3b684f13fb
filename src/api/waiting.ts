import { z } from "zod";
import { JobState } from "./job-state.ts";

const Time = z.iso.datetime();
const Count = z.number().int().nonnegative();

const JobStanding = z.object({ name: z.string(), state: JobState });

const common = {
  /** For people, whole. */
  sentence: z.string(),
  /** How to shorten the wait; null when it is only possible to wait. */
  advice: z.string().nullable(),
};

/** Why a job does not run, one kind for each possible obstacle. The first that applies is reported. */
export const WaitingReason = z.discriminatedUnion("kind", [
  z.object({
    ...common,
    kind: z.literal("dependency"),
    /** The one that moves first: it waits for no other job. */
    root: JobStanding.nullable(),
    /** Some of the jobs that it waits for itself, and how many there are. */
    jobs: z.array(JobStanding),
    count: Count,
  }),
  z.object({
    ...common,
    kind: z.literal("person"),
    breakpoint: z.string(),
    /** Names, or patterns of them; empty when everybody with the grant may. */
    mayRelease: z.array(z.string()),
    /** The results to look at before the release. */
    message: z.string().nullable(),
    /** When it continues without a person. */
    until: Time.nullable(),
  }),
  z.object({ ...common, kind: z.literal("time"), until: Time.nullable() }),
  /** Its result is to be reported by a machine that the farm does not know. */
  z.object({ ...common, kind: z.literal("outside") }),
  z.object({
    ...common,
    kind: z.literal("preparing"),
    /** Some trouble of the farm's; it is tried again. */
    trouble: z.string().nullable(),
    until: Time.nullable(),
    /** Jobs that are prepared first. */
    ahead: Count,
  }),
  z.object({
    ...common,
    kind: z.literal("capacity-none"),
    /** The property that it requires and no worker offers, with the offered values; null when there are no workers. */
    missing: z
      .object({ property: z.string(), asked: z.string(), offered: z.array(z.string()) })
      .nullable(),
    /** Workers that could run it, but are not heard of, or take nothing new. */
    silent: Count,
    draining: Count,
    lastSeenAt: Time.nullable(),
  }),
  z.object({
    ...common,
    kind: z.literal("capacity-size"),
    /** The smallest size class that may run it, and the greatest that is there. */
    asked: Count,
    greatest: Count,
    workers: Count,
  }),
  z.object({
    ...common,
    kind: z.literal("capacity-busy"),
    /** How many could run it; all are busy. */
    workers: Count,
    freeAt: Time.nullable(),
  }),
  z.object({
    ...common,
    kind: z.literal("limit"),
    limit: z.string(),
    /** How many at once. */
    most: Count,
  }),
  z.object({
    ...common,
    kind: z.literal("priority"),
    /** About how many go first. `isMore`: at least so many. */
    ahead: z.object({ top: Count, sameGraph: Count, others: Count, isMore: z.boolean() }),
    workers: Count,
    /** The part of these workers that the job's graph may expect now. */
    share: z.number(),
  }),
  z.object({ ...common, kind: z.literal("starting"), worker: z.string().nullable() }),
]);
export type WaitingReason = z.infer<typeof WaitingReason>;

/** Null: it waits for nothing, since it runs or is over. */
export const JobWaiting = z
  .object({ waiting: WaitingReason.nullable() })
  .meta({ id: "JobWaiting" });
export type JobWaiting = z.infer<typeof JobWaiting>;
