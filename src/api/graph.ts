import { z } from "zod";
import { ChunkProgress } from "./chunk.ts";
import { Findings } from "./findings.ts";
import { JobOrigin } from "./job-origin.ts";
import { GraphState, JobState } from "./job-state.ts";
import { RunOutcome } from "./run-outcome.ts";
import { MadeGraph, Notification } from "./server-job.ts";
import { WaitingReason } from "./waiting.ts";

export { RunOutcome } from "./run-outcome.ts";

/** A time as ISO 8601 text. */
const Time = z.iso.datetime();

/**
 * Why a run exists.
 *
 * `auto-retry`: the previous run failed, and the job's retry budget allows another. `retrigger`: a person requested it.
 * `revive`: the job that had made it unreachable ran again or was waived. `downstream`: a job that it depends on was
 * retriggered together with its dependents. `activate`: it was inactive, expired or coalesced, and was requested.
 * `backfill`, `bisect`: a search over commits requested it.
 */
export const RunCause = z.enum([
  "first",
  "auto-retry",
  "retrigger",
  "revive",
  "downstream",
  "activate",
  "backfill",
  "bisect",
]);
export type RunCause = z.infer<typeof RunCause>;

/**
 * The kinds of jobs. `command` runs on a worker; so does `graph`, whose output is a graph of its own. The others need
 * no worker: `join` groups jobs under one name, `breakpoint` waits for a person, `timer` for a time, `notify` sends a
 * message, `dummy` ends as defined.
 */
export const JobKind = z.enum([
  "command",
  "join",
  "breakpoint",
  "timer",
  "notify",
  "graph",
  "dummy",
]);
export type JobKind = z.infer<typeof JobKind>;

/**
 * The condition of an edge: the dependency succeeded, failed, or ended; or ended with a named outcome (`timed_out`), or
 * in a failure class of its definition.
 */
export const EdgeCondition = z.union([
  z.enum(["success", "failure", "end"]),
  z.templateLiteral(["outcome:", z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/)]),
]);
export type EdgeCondition = z.infer<typeof EdgeCondition>;

/** The executor of a run: a worker, the farm itself, a machine outside, or workers that share a chunked job's items. */
export const RunServer = z.enum(["execution", "farm", "outside", "items"]);
export type RunServer = z.infer<typeof RunServer>;

export const Run = z.object({
  number: z.number().int(),
  cause: RunCause,
  /** The requester, in words: `alice retriggered build`. Null for automatic runs. */
  requestedBy: z.string().nullable(),
  why: z.string().nullable(),
  servedBy: RunServer,
  state: z.enum(["queued", "waiting", "running", "finished"]),
  outcome: RunOutcome.nullable(),
  exitCode: z.number().int().nullable(),
  /** For people: the reason for this end, when the log does not show it. */
  message: z.string().nullable(),
  /** `<hash>/<size>` of the REv2 action. */
  actionDigest: z.string(),
  /** Its execution; null for a cache hit. */
  executionId: z.string().nullable(),
  /** For a hit: the job whose run made the result, and the time. */
  cachedFrom: z
    .object({ graphId: z.string().nullable(), job: z.string().nullable(), at: Time })
    .nullable(),
  attempt: z.number().int(),
  worker: z.string().nullable(),
  /** When it was requested, and when it was no longer blocked. */
  wantedAt: Time.nullable(),
  readyAt: Time.nullable(),
  queuedAt: Time,
  /** When it continues by itself: a timer, or the time limit of a breakpoint. */
  dueAt: Time.nullable(),
  startedAt: Time.nullable(),
  finishedAt: Time.nullable(),
  userMs: z.number().nullable(),
  systemMs: z.number().nullable(),
  peakMemoryBytes: z.number().nullable(),
  ...Findings.shape,
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

/** A job for a graph's page: small, because a graph may have ten thousand. */
export const JobSummary = z.object({
  name: z.string(),
  kind: JobKind,
  state: JobState,
  /** The graph's version at the job's last change. */
  version: z.number().int(),
  tags: z.record(z.string(), z.string()),
  runs: z.number().int(),
  /** The result of the latest run came from the action cache. */
  cached: z.boolean(),
  /** Whether its run used inputs that an earlier job has replaced since. */
  stale: z.boolean(),
  /** A person changed its definition for this graph alone. */
  customised: z.boolean(),
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
  status: z.enum(["open", "met", "failed"]),
  /** The waiver that lets the job run without it. */
  waived: z.object({ by: z.string(), reason: z.string(), at: Time }).nullable(),
});
export type Edge = z.infer<typeof Edge>;

export const GraphSummary = z
  .object({
    id: z.string(),
    repository: z.string(),
    /** The project of its inputs, outputs, logs and results: that of its repository when it was submitted. */
    project: z.string(),
    commit: z.string(),
    /** The submitter's revision: a branch, a tag, a short id. */
    rev: z.string(),
    subject: z.string(),
    author: z.string(),
    committedAt: Time,
    /** The digest of its jobs, with all placeholders filled. */
    catalog: z.string(),
    /** The digest of the definitions from which it was made; null when it was made from another graph's jobs. */
    templates: z.string().nullable(),
    /** The graph after which its set is named; its own id when it is in no larger set. */
    set: z.string(),
    /** The name that was given to the set; null when it has none. */
    setName: z.string().nullable(),
    /** Its origin, when it is not a first submission. */
    parent: z
      .object({
        id: z.string(),
        kind: z.enum(["clone", "backfill", "bisect", "subgraph"]),
        /** For a subgraph: the job that made it as output. */
        job: z.string().nullable(),
      })
      .nullable(),
    branch: z.string(),
    /** Jobs with a higher priority start first. */
    priority: z.number().int(),
    /** Whether it is in the top class, which nothing overtakes. */
    top: z.boolean(),
    submittedBy: z.string(),
    state: GraphState,
    version: z.number().int(),
    jobs: z.number().int(),
    /** Jobs whose definitions were changed for this graph only. */
    customised: z.number().int(),
    counts: z.partialRecord(JobState, z.number().int()),
    createdAt: Time,
    finishedAt: Time.nullable(),
    /** The time between its end and its continuation, in ms; not part of its duration. */
    idleMs: z.number().int(),
  })
  .meta({ id: "GraphSummary" });
export type GraphSummary = z.infer<typeof GraphSummary>;

export const Graph = GraphSummary.extend({
  jobList: z.array(JobSummary),
  edges: z.array(Edge),
}).meta({ id: "Graph" });
export type Graph = z.infer<typeof Graph>;

/** A message of a graph's stream: everything that changed since the client's version. */
export const GraphDelta = z
  .object({ graph: GraphSummary, jobs: z.array(JobSummary) })
  .meta({ id: "GraphDelta" });
export type GraphDelta = z.infer<typeof GraphDelta>;

export const JobDetail = z
  .object({
    graph: GraphSummary,
    job: JobSummary,
    /** The definition that runs: the template with customisations for this graph. */
    definition: z.unknown(),
    /**
     * Its own priority, added to that of the graph: from the definition or changed by a person. Jobs with a higher
     * priority start first.
     */
    priority: z.number().int(),
    origin: JobOrigin,
    dependsOn: z.array(Edge),
    dependedOnBy: z.array(Edge),
    /** The newest first. */
    runList: z.array(Run),
    /** For a chunked job: the progress of its latest run. */
    chunks: ChunkProgress.nullable(),
    /** For a notify job: its messages, and whether they were delivered. */
    notifications: z.array(Notification),
    /** For a graph job: the graphs that its runs made. */
    madeGraphs: z.array(MadeGraph),
    /** Why it does not run; null when it runs or has ended. */
    waiting: WaitingReason.nullable(),
  })
  .meta({ id: "JobDetail" });
export type JobDetail = z.infer<typeof JobDetail>;

export const SubmittedGraph = z
  .object({
    id: z.string(),
    url: z.string(),
    graph: GraphSummary,
    /** A notice that the priority was lowered, and why. */
    notice: z.string().optional(),
  })
  .meta({ id: "SubmittedGraph" });
export type SubmittedGraph = z.infer<typeof SubmittedGraph>;

export const Repository = z
  .object({
    name: z.string(),
    url: z.string(),
    /** The project of the blobs and results of its next graphs. */
    project: z.string(),
    graphs: z.number().int(),
    latest: GraphSummary.nullable(),
  })
  .meta({ id: "Repository" });
export type Repository = z.infer<typeof Repository>;
