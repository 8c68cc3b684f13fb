import { z } from "zod";
import { ChunkProgress } from "./chunk.ts";
import { Findings } from "./findings.ts";
import { JobOrigin } from "./job-origin.ts";
import { GraphState, JobState } from "./job-state.ts";
import { RunOutcome } from "./run-outcome.ts";
import { MadeGraph, Notification } from "./server-job.ts";
import { WaitingReason } from "./waiting.ts";

export { RunOutcome } from "./run-outcome.ts";

/** Times travel as ISO 8601 text. */
const Time = z.iso.datetime();

/**
 * Why a run exists.
 *
 * `auto-retry`: the one before failed, and the job's own budget allows another.
 * `retrigger`: a person asked for it. `revive`: what made the job unreachable has run anew,
 * or was waived. `downstream`: a job that it depends on was retriggered, and the person wanted
 * what hangs on it again, too. `activate`: it was inactive, expired or coalesced, and is wanted
 * after all. `backfill`, `bisect`: a search over commits asked for it.
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
 * What a job does. `command` runs on a worker; `graph` does too, and what it makes is a graph of its own.
 * The others need no machine: `join` gathers jobs under one name, `breakpoint` waits for a
 * person, `timer` for a time, `notify` tells somebody, `dummy` ends as it was told to.
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
 * When an edge is met: the job it depends on ended well, ended badly, or ended; or with
 * an outcome by name (`timed_out`), or in a class of failures that its definition names.
 */
export const EdgeCondition = z.union([
  z.enum(["success", "failure", "end"]),
  z.templateLiteral(["outcome:", z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/)]),
]);
export type EdgeCondition = z.infer<typeof EdgeCondition>;

/** Who serves a run: a worker, the farm itself, a machine outside, or workers that share a chunked job's items. */
export const RunServer = z.enum(["execution", "farm", "outside", "items"]);
export type RunServer = z.infer<typeof RunServer>;

export const Run = z.object({
  number: z.number().int(),
  cause: RunCause,
  /** Who asked for it, and in which words: `alice retriggered build`. Null where nobody did. */
  requestedBy: z.string().nullable(),
  why: z.string().nullable(),
  servedBy: RunServer,
  state: z.enum(["queued", "waiting", "running", "finished"]),
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
  /** When it was asked for, and when nothing was in its way any more. */
  wantedAt: Time.nullable(),
  readyAt: Time.nullable(),
  queuedAt: Time,
  /** When it goes on by itself: a timer, a breakpoint's end of patience. */
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

/** A job as a graph's page needs it: small, for there may be ten thousand. */
export const JobSummary = z.object({
  name: z.string(),
  kind: JobKind,
  state: JobState,
  /** The graph's version at the job's last change. */
  version: z.number().int(),
  tags: z.record(z.string(), z.string()),
  runs: z.number().int(),
  /** The latest run came from the action cache. */
  cached: z.boolean(),
  /** It has run, but on what a job before it no longer gives. */
  stale: z.boolean(),
  /** Somebody changed its definition for this graph alone. */
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
  /** Somebody lets the job go on without it. */
  waived: z.object({ by: z.string(), reason: z.string(), at: Time }).nullable(),
});
export type Edge = z.infer<typeof Edge>;

export const GraphSummary = z
  .object({
    id: z.string(),
    repository: z.string(),
    commit: z.string(),
    /** What the submitter wrote: a branch, a tag, a short id. */
    rev: z.string(),
    subject: z.string(),
    author: z.string(),
    committedAt: Time,
    /** Of its jobs, every hole filled. */
    catalog: z.string(),
    /** Of the definitions that it was made of; null where it was made of none, as from another graph's jobs. */
    templates: z.string().nullable(),
    /** The graph after which its set is named; its own id when it is alone. */
    set: z.string(),
    /** The name that somebody gave the set; null when it has none. */
    setName: z.string().nullable(),
    /** Where it comes from, when it is not a first submission. */
    parent: z
      .object({
        id: z.string(),
        kind: z.enum(["clone", "backfill", "bisect", "subgraph"]),
        /** Of a subgraph: the job whose output it is. */
        job: z.string().nullable(),
      })
      .nullable(),
    branch: z.string(),
    /** Higher is sooner. */
    priority: z.number().int(),
    /** Of the one class that nothing overtakes. */
    top: z.boolean(),
    submittedBy: z.string(),
    state: GraphState,
    version: z.number().int(),
    jobs: z.number().int(),
    /** Jobs whose definitions somebody changed for this graph alone. */
    customised: z.number().int(),
    counts: z.partialRecord(JobState, z.number().int()),
    createdAt: Time,
    finishedAt: Time.nullable(),
    /** How long it was over before somebody made it go on, ms: no part of how long it took. */
    idleMs: z.number().int(),
  })
  .meta({ id: "GraphSummary" });
export type GraphSummary = z.infer<typeof GraphSummary>;

export const Graph = GraphSummary.extend({
  jobList: z.array(JobSummary),
  edges: z.array(Edge),
}).meta({ id: "Graph" });
export type Graph = z.infer<typeof Graph>;

/** What a graph's stream sends: all that changed since the version that the client named. */
export const GraphDelta = z
  .object({ graph: GraphSummary, jobs: z.array(JobSummary) })
  .meta({ id: "GraphDelta" });
export type GraphDelta = z.infer<typeof GraphDelta>;

export const JobDetail = z
  .object({
    graph: GraphSummary,
    job: JobSummary,
    /** As it runs: the template, with what people changed for this graph. */
    definition: z.unknown(),
    /** Its own, added to that of the graph: by the definition, or as somebody changed it. Higher is sooner. */
    priority: z.number().int(),
    origin: JobOrigin,
    dependsOn: z.array(Edge),
    dependedOnBy: z.array(Edge),
    runList: z.array(Run),
    /** Of a chunked job: how far its latest run has come. */
    chunks: ChunkProgress.nullable(),
    /** Of a notify job: what it told, and whether that was heard. */
    notifications: z.array(Notification),
    /** Of a graph job: the graphs that its runs made. */
    madeGraphs: z.array(MadeGraph),
    /** Why it does not run; null when it does, or is over. */
    waiting: WaitingReason.nullable(),
  })
  .meta({ id: "JobDetail" });
export type JobDetail = z.infer<typeof JobDetail>;

export const SubmittedGraph = z
  .object({
    id: z.string(),
    url: z.string(),
    graph: GraphSummary,
    /** That less was given than asked for, and why. */
    notice: z.string().optional(),
  })
  .meta({ id: "SubmittedGraph" });
export type SubmittedGraph = z.infer<typeof SubmittedGraph>;

export const Repository = z
  .object({
    name: z.string(),
    url: z.string(),
    graphs: z.number().int(),
    latest: GraphSummary.nullable(),
  })
  .meta({ id: "Repository" });
export type Repository = z.infer<typeof Repository>;
