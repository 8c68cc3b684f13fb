import { z } from "zod";
import { RunOfJob } from "./action-comparison.ts";
import { WaitingReason } from "./waiting.ts";

const Time = z.iso.datetime();
const Count = z.number().int().nonnegative();
const BlobKey = z.string();

export const ExecutionOutput = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("file"),
    path: z.string(),
    blob: BlobKey,
    sizeBytes: Count,
    executable: z.boolean(),
  }),
  z.object({ kind: z.literal("directory"), path: z.string(), tree: BlobKey }),
  z.object({ kind: z.literal("symlink"), path: z.string(), target: z.string() }),
]);
export type ExecutionOutput = z.infer<typeof ExecutionOutput>;

/** An execution with all known facts, for its page. */
export const ExecutionDetail = z
  .object({
    id: z.uuid(),
    project: z.string(),
    domain: z.string(),
    actionDigest: BlobKey,
    inputRoot: BlobKey.nullable(),
    state: z.enum(["queued", "leased", "finished"]),
    waiting: WaitingReason.nullable(),
    worker: z.string().nullable(),
    sizeClass: Count,
    priority: z.number().int(),
    timeoutMs: Count,
    expectedDurationMs: Count.nullable(),
    queuedAt: Time,
    leasedAt: Time.nullable(),
    startedAt: Time.nullable(),
    finishedAt: Time.nullable(),
    outcome: z.string().nullable(),
    exitCode: z.number().int().nullable(),
    message: z.string(),
    /** Null when its blobs no longer exist. */
    command: z
      .object({
        arguments: z.array(z.string()),
        environment: z.record(z.string(), z.string()),
        workingDirectory: z.string(),
        platform: z.record(z.string(), z.string()),
      })
      .nullable(),
    /** The container image that it ran in; null without one, and until it has ended. */
    image: z
      .object({
        digest: z.string(),
        /** How long it waited until its images were on the worker; no part of its run. 0 when they were there. */
        pulledMs: Count,
      })
      .nullable(),
    /** The number of the request, from 1, that a persistent worker process served for it; 0: it had processes of its own. */
    persistentRequest: Count,
    usage: z
      .object({ userMs: Count, systemMs: Count, peakMemoryBytes: Count, measuredBy: z.string() })
      .nullable(),
    /** The first outputs, by path. */
    outputs: z.array(ExecutionOutput),
    /** The number of further outputs. */
    moreOutputs: Count,
    attempts: z.array(
      z.object({
        attempt: Count,
        worker: z.string(),
        leasedAt: Time,
        startedAt: Time.nullable(),
        finishedAt: Time,
        outcome: z.string(),
        message: z.string(),
      }),
    ),
    /** The run of a job for which it was queued; null for an action of a build tool, and when the graph was deleted. */
    job: RunOfJob.nullable(),
    /** The operations of invocations that requested it, the newest first. */
    requestedBy: z.array(
      z.object({
        project: z.string(),
        invocation: z.string(),
        target: z.string(),
        mnemonic: z.string(),
        requestedAt: Time,
      }),
    ),
  })
  .meta({ id: "ExecutionDetail" });
export type ExecutionDetail = z.infer<typeof ExecutionDetail>;
