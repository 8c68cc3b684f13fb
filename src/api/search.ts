import { z } from "zod";

const Time = z.iso.datetime();

const common = {
  /** Its name on the farm, or any value that `SubmitGraph.repository` accepts. */
  repository: z.string().min(1).max(4_096),
  /** A selection of jobs, such as `kind:test & linux`; it cannot test the state. */
  selection: z.string().min(1).max(16_384),
  /** Returns the planned work and starts nothing. */
  dryRun: z.boolean().default(false),
  reason: z.string().max(1_000).optional(),
};
const Revision = z.string().min(1).max(512);

/**
 * Requests jobs on a range of commits, along first parents: `from` is not in it, `to` is.
 *
 * `backfill` runs them on every commit, or on every `step`-th back from `to`. `bisect` looks for the first bad commit
 * after one that is known to be good. It runs `parallel` probes at once, and accepts a result after `sameResults` equal
 * ones.
 */
export const StartSearch = z
  .discriminatedUnion("kind", [
    z.object({
      kind: z.literal("backfill"),
      ...common,
      from: Revision,
      to: Revision,
      step: z.number().int().min(1).max(1_000_000).default(1),
    }),
    z.object({
      kind: z.literal("bisect"),
      ...common,
      good: Revision,
      bad: Revision,
      parallel: z.number().int().min(1).max(50).default(1),
      sameResults: z.number().int().min(1).max(20).default(1),
    }),
  ])
  .meta({ id: "StartSearch" });
export type StartSearch = z.input<typeof StartSearch>;

/** A search's expected work. Durations are those of the newest commit's jobs, from recent runs. */
export const SearchForecast = z.object({
  /** The number of commits in the range. */
  commits: z.number().int(),
  /** The number of these with a known result. */
  known: z.number().int(),
  /** For a bisection: the highest number of rounds of probes, if every commit can be tested. */
  rounds: z.number().int().nullable(),
  /** The highest number of commits that will be run. */
  probes: z.number().int(),
  jobsPerCommit: z.number().int(),
  jobs: z.number().int(),
  /** The duration of one commit from beginning to end, without waiting times; jobs that never ran count as zero. */
  commitMs: z.number(),
  workerMs: z.number(),
  /** In the unit that the farm's owner chose; null when the farm has no price. */
  cost: z.number().nullable(),
  /** Jobs of a commit that never ran, so that their duration is unknown. */
  unknownJobs: z.number().int(),
});
export type SearchForecast = z.infer<typeof SearchForecast>;

/**
 * The state of a commit in a search. `unknown`: not requested yet. `asked`: its jobs run. `good`, `bad`: its result.
 * `skipped`: it has no result, for the given reason.
 */
export const CommitStanding = z.enum(["unknown", "asked", "good", "bad", "skipped"]);
export type CommitStanding = z.infer<typeof CommitStanding>;

export const SearchCommit = z.object({
  /** The position in the range; the oldest commit has 1. */
  position: z.number().int(),
  commit: z.string(),
  standing: CommitStanding,
  graphId: z.string().nullable(),
  /** For people: why it was skipped. */
  why: z.string().nullable(),
});
export type SearchCommit = z.infer<typeof SearchCommit>;

export const Search = z
  .object({
    id: z.string(),
    kind: z.enum(["backfill", "bisect"]),
    repository: z.string(),
    branch: z.string(),
    selection: z.string(),
    /** The commit before the range (for a bisection, the good one) and the last commit of the range (the bad one). */
    after: z.string(),
    last: z.string(),
    step: z.number().int(),
    parallel: z.number().int(),
    sameResults: z.number().int(),
    state: z.enum(["running", "finished", "cancelled"]),
    startedBy: z.string(),
    reason: z.string().nullable(),
    /** The set of the graphs that it made; null before the first. */
    set: z.string().nullable(),
    commits: z.number().int(),
    counts: z.partialRecord(CommitStanding, z.number().int()),
    /** The result of a bisection: the first bad commit, when `remaining` contains only that one. */
    remaining: z.array(SearchCommit),
    /** For people: the result, or the problem. */
    message: z.string().nullable(),
    createdAt: Time,
    finishedAt: Time.nullable(),
  })
  .meta({ id: "Search" });
export type Search = z.infer<typeof Search>;

/** A search with some of its commits, the newest first. */
export const SearchDetail = Search.extend({
  commitList: z.array(SearchCommit),
  /** The `before` of the next page; null at the end. */
  next: z.number().int().nullable(),
}).meta({ id: "SearchDetail" });
export type SearchDetail = z.infer<typeof SearchDetail>;

/** `search` is null for a dry run. */
export const StartedSearch = z
  .object({ forecast: SearchForecast, search: Search.nullable() })
  .meta({ id: "StartedSearch" });
export type StartedSearch = z.infer<typeof StartedSearch>;
