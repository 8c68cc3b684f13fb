import { z } from "zod";
import { GraphSummary } from "./graph.ts";

const Count = z.number().int().nonnegative();
const Time = z.iso.datetime();

/** Something on the farm that a person should look at. */
export const AttentionItem = z.discriminatedUnion("kind", [
  /** The newest graph of its branch, and it failed. `failedJobs` are the first of them, by name. */
  z.object({
    kind: z.literal("failed graph"),
    graph: GraphSummary,
    failedJobs: z.array(z.string()),
    isYours: z.boolean(),
  }),
  /** The newest build of its principal and targets, and it failed. `failedActions` are the first of them. */
  z.object({
    kind: z.literal("failed build"),
    project: z.string(),
    invocation: z.string(),
    /** The command as it was typed; the tool's name when it is not known. */
    title: z.string(),
    principal: z.string(),
    at: Time,
    failedActions: z.array(
      z.object({ executionId: z.string(), target: z.string(), mnemonic: z.string() }),
    ),
    isYours: z.boolean(),
  }),
  /** The newest measurement of its suite that ended, and benchmarks or jobs of it failed. */
  z.object({
    kind: z.literal("failed benchmark"),
    request: z.string(),
    suite: z.string(),
    artifact: z.string(),
    errors: Count,
    at: Time,
  }),
  /** A running graph with jobs that wait for a person or for a time. */
  z.object({ kind: z.literal("waiting graph"), graph: GraphSummary, jobs: Count }),
  /** Executions with equal requirements that none of the present workers could run. */
  z.object({
    kind: z.literal("executions without a worker"),
    count: Count,
    first: z.string(),
    reason: z.string(),
  }),
  z.object({ kind: z.literal("lost worker"), worker: z.string(), lastSeenAt: Time }),
  /** A worker that can run nothing at present; the reason is its own. */
  z.object({ kind: z.literal("worker in trouble"), worker: z.string(), reason: z.string() }),
  z.object({ kind: z.literal("quarantined worker"), worker: z.string(), reason: z.string() }),
  /** Results of the granary that two machines made differently. */
  z.object({ kind: z.literal("quarantined results"), results: Count }),
  /** The store of blobs is larger than its limit, and eviction found nothing more to remove. */
  z.object({ kind: z.literal("full store"), overBytes: Count, limitBytes: Count }),
  /** The last check of the store found and removed blobs that did not match their digests. */
  z.object({ kind: z.literal("corrupt blobs"), blobs: Count, at: Time }),
  /** An alarm of the benchmark lab, as a sentence that says what to do. */
  z.object({ kind: z.literal("benchmark alarm"), alarm: z.string() }),
]);
export type AttentionItem = z.infer<typeof AttentionItem>;

/** `GET /overview`: what a person sees first. */
export const Overview = z
  .object({
    /** In the order of urgency. */
    attention: z.array(AttentionItem),
    /** The newest graphs of all repositories, without subgraphs. */
    graphs: z.array(GraphSummary),
    /** Null for callers without `read` for the whole farm. */
    farm: z
      .object({
        workers: Count,
        slots: Count,
        busySlots: Count,
        /** Executions that wait for a worker. */
        queued: Count,
        /** What granaries had for their builds in the last seven days, in the default project. */
        week: z.object({
          requested: Count,
          hits: Count,
          savedMs: Count,
        }),
      })
      .nullable(),
  })
  .meta({ id: "Overview" });
export type Overview = z.infer<typeof Overview>;
