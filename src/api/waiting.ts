import { z } from "zod";
import { JobState } from "./job-state.ts";

const Time = z.iso.datetime();
const Count = z.number().int().nonnegative();

const JobStanding = z.object({ name: z.string(), state: JobState });

const common = {
  /** The complete sentence, for people. */
  sentence: z.string(),
  /** How to shorten the wait; null when that is not possible. */
  advice: z.string().nullable(),
};

/** Why a job does not run, one kind for each possible obstacle. The first that applies is reported. */
export const WaitingReason = z.discriminatedUnion("kind", [
  z.object({
    ...common,
    kind: z.literal("dependency"),
    /** The first job of the chain, which waits for no other job. */
    root: JobStanding.nullable(),
    /** Some of the jobs that it directly waits for, and their total number. */
    jobs: z.array(JobStanding),
    count: Count,
  }),
  z.object({
    ...common,
    kind: z.literal("person"),
    breakpoint: z.string(),
    /** Names, or patterns of them; empty when every principal with the grant may. */
    mayRelease: z.array(z.string()),
    /** The results to check before the release. */
    message: z.string().nullable(),
    /** The time when it continues without a person. */
    until: Time.nullable(),
  }),
  z.object({ ...common, kind: z.literal("time"), until: Time.nullable() }),
  /** A machine outside the farm must report its result. */
  z.object({ ...common, kind: z.literal("outside") }),
  z.object({
    ...common,
    kind: z.literal("preparing"),
    /** A problem of the farm; the farm retries. */
    trouble: z.string().nullable(),
    until: Time.nullable(),
    /** Jobs that are prepared first. */
    ahead: Count,
  }),
  z.object({
    ...common,
    kind: z.literal("capacity-none"),
    /** The required property that no worker offers, with the offered values; null when there are no workers. */
    missing: z
      .object({ property: z.string(), asked: z.string(), offered: z.array(z.string()) })
      .nullable(),
    /** Workers that could run it, but are silent or accept nothing new. */
    silent: Count,
    draining: Count,
    lastSeenAt: Time.nullable(),
  }),
  z.object({
    ...common,
    kind: z.literal("capacity-size"),
    /** The smallest size class that may run it, and the greatest existing one. */
    asked: Count,
    greatest: Count,
    workers: Count,
  }),
  z.object({
    ...common,
    kind: z.literal("capacity-busy"),
    /** The number of workers that could run it; all are busy. */
    workers: Count,
    freeAt: Time.nullable(),
  }),
  z.object({
    ...common,
    kind: z.literal("limit"),
    limit: z.string(),
    /** The limit for simultaneous ones. */
    most: Count,
  }),
  z.object({
    ...common,
    kind: z.literal("priority"),
    /** About how many jobs start before it. `isMore`: the numbers are lower bounds. */
    ahead: z.object({ top: Count, sameGraph: Count, others: Count, isMore: z.boolean() }),
    workers: Count,
    /** The share of these workers that the job's graph may currently expect. */
    share: z.number(),
  }),
  z.object({ ...common, kind: z.literal("starting"), worker: z.string().nullable() }),
]);
export type WaitingReason = z.infer<typeof WaitingReason>;

/** Null: it does not wait, because it runs or has ended. */
export const JobWaiting = z
  .object({ waiting: WaitingReason.nullable() })
  .meta({ id: "JobWaiting" });
export type JobWaiting = z.infer<typeof JobWaiting>;
