import { z } from "zod";
import { GraphState, JobState } from "./job-state.ts";

/** Times travel as ISO 8601 text. */
const Time = z.iso.datetime();

/** Why a run exists. */
export const RunCause = z.enum(["first", "auto-retry", "retrigger", "revive"]);
export type RunCause = z.infer<typeof RunCause>;

/** When an edge is met: the job it depends on ended well, ended badly, or ended. */
export const EdgeCondition = z.enum(["success", "failure", "end"]);
export type EdgeCondition = z.infer<typeof EdgeCondition>;

/** How a run ended, as the queue tells it; `cached` means that nothing was executed. */
export const RunOutcome = z.enum([
  "succeeded",
  "failed",
  "timed_out",
  "out_of_memory",
  "cancelled",
  "worker_lost",
  "infrastructure_error",
]);
export type RunOutcome = z.infer<typeof RunOutcome>;

export const Run = z.object({
  number: z.number().int(),
  cause: RunCause,
  state: z.enum(["queued", "running", "finished"]),
  outcome: RunOutcome.nullable(),
  exitCode: z.number().int().nullable(),
  /** For people: why it ended so, when the log does not say. */
  message: z.string().nullable(),
  /** `<hash>/<size>` of the REv2 action. */
  actionDigest: z.string(),
  /** The execution that served it; null for a cache hit. */
  executionId: z.string().nullable(),
  /** For a hit: which job's run made the result, and when. */
  cachedFrom: z
    .object({ graphId: z.string().nullable(), job: z.string().nullable(), at: Time })
    .nullable(),
  attempt: z.number().int(),
  worker: z.string().nullable(),
  queuedAt: Time,
  startedAt: Time.nullable(),
  finishedAt: Time.nullable(),
  userMs: z.number().nullable(),
  systemMs: z.number().nullable(),
  peakMemoryBytes: z.number().nullable(),
  outputs: z.array(
    z.object({
      path: z.string(),
      kind: z.enum(["file", "directory", "symlink"]),
      digest: z.string().nullable(),
      sizeBytes: z.number().nullable(),
    }),
  ),
});
export type Run = z.infer<typeof Run>;

/** A job as a graph's page needs it: small, for there may be ten thousand. */
export const JobSummary = z.object({
  name: z.string(),
  state: JobState,
  /** The graph's version at the job's last change. */
  version: z.number().int(),
  tags: z.record(z.string(), z.string()),
  runs: z.number().int(),
  /** The latest run came from the action cache. */
  cached: z.boolean(),
  /** For people: `skipped because lint failed`, `waits for build`. */
  reason: z.string().nullable(),
  readyAt: Time.nullable(),
  startedAt: Time.nullable(),
  finishedAt: Time.nullable(),
});
export type JobSummary = z.infer<typeof JobSummary>;

export const Edge = z.object({
  /** The job that waits. */
  job: z.string(),
  /** The job that it waits for. */
  on: z.string(),
  condition: EdgeCondition,
});
export type Edge = z.infer<typeof Edge>;

export const GraphSummary = z.object({
  id: z.string(),
  repository: z.string(),
  commit: z.string(),
  /** What the submitter wrote: a branch, a tag, a short id. */
  rev: z.string(),
  subject: z.string(),
  author: z.string(),
  committedAt: Time,
  catalog: z.string(),
  state: GraphState,
  version: z.number().int(),
  jobs: z.number().int(),
  counts: z.partialRecord(JobState, z.number().int()),
  createdAt: Time,
  finishedAt: Time.nullable(),
});
export type GraphSummary = z.infer<typeof GraphSummary>;

export const Graph = GraphSummary.extend({
  jobList: z.array(JobSummary),
  edges: z.array(Edge),
});
export type Graph = z.infer<typeof Graph>;

/** What a graph's stream sends: all that changed since the version that the client named. */
export const GraphDelta = z.object({ graph: GraphSummary, jobs: z.array(JobSummary) });
export type GraphDelta = z.infer<typeof GraphDelta>;

export const JobDetail = z.object({
  graph: GraphSummary,
  job: JobSummary,
  definition: z.unknown(),
  dependsOn: z.array(Edge),
  dependedOnBy: z.array(Edge),
  runList: z.array(Run),
});
export type JobDetail = z.infer<typeof JobDetail>;

/** Asks for the graph of a commit. */
export const SubmitGraph = z.object({
  /** A path on the server's machine, or a URL that its git can fetch. */
  repository: z.string().min(1).max(4_096),
  rev: z.string().min(1).max(512).default("HEAD"),
  parameters: z.record(z.string(), z.json()).default({}),
  /** Definitions from elsewhere than the commit: file name → text. */
  definitions: z.record(z.string(), z.string()).optional(),
  /** Name the graph yourself, and submitting it twice is submitting it once. */
  id: z.uuid().optional(),
  /** Run even what the action cache has. */
  skipCache: z.boolean().default(false),
});
export type SubmitGraph = z.input<typeof SubmitGraph>;

export const SubmittedGraph = z.object({ id: z.string(), url: z.string(), graph: GraphSummary });
export type SubmittedGraph = z.infer<typeof SubmittedGraph>;

export const Repository = z.object({
  name: z.string(),
  url: z.string(),
  graphs: z.number().int(),
  latest: GraphSummary.nullable(),
});
export type Repository = z.infer<typeof Repository>;
