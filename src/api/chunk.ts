import { z } from "zod";
import { RunOutcome } from "./run-outcome.ts";

const Time = z.iso.datetime();

/** A batch of a chunked job's items: one execution on one worker. */
export const Batch = z.object({
  number: z.number().int(),
  /** `planned`: its action is being prepared. */
  state: z.enum(["planned", "queued", "running", "finished"]),
  items: z.number().int(),
  outcome: RunOutcome.nullable(),
  /** For people: why it ended in this way. */
  message: z.string().nullable(),
  /** Its result was known; nothing was executed. */
  cached: z.boolean(),
  worker: z.string().nullable(),
  executionId: z.string().nullable(),
  startedAt: Time.nullable(),
  finishedAt: Time.nullable(),
});
export type Batch = z.infer<typeof Batch>;

/** The progress of the latest run of a chunked job. */
export const ChunkProgress = z.object({
  run: z.number().int(),
  items: z.number().int(),
  done: z.number().int(),
  /** No retries left: the job will fail. */
  failed: z.number().int(),
  /** The newest first; the last 200. */
  batches: z.array(Batch),
});
export type ChunkProgress = z.infer<typeof ChunkProgress>;
