import { z } from "zod";

const Count = z.number().int().nonnegative();
const Bytes = z.number().int().nonnegative();
const Time = z.iso.datetime();
const ShortText = z.string().max(1_024);

/** A commit's whole id, by SHA-1 or SHA-256. */
export const CommitId = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "a commit's whole id");
/** Of a build environment. */
export const EnvironmentName = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,128}$/, "an environment's digest, or a word");

/**
 * Where a result that a build asked for came from: it was here from earlier builds; it was fetched ahead and there in
 * time; it had to be waited for; there was none; or nobody could be asked.
 */
export const ResultSource = z.enum(["local", "prefetched", "fetched", "missed", "unreachable"]);
export type ResultSource = z.infer<typeof ResultSource>;

/** Why a result had to be waited for, or was not to be had. */
export const LateBecause = z.enum([
  // No index named it.
  "not-indexed",
  // An index did, and the build was faster than the line.
  "overtaken",
  // It was left out of the transfer: too large, too late, or over the limits.
  "over-budget",
  // Nobody had made it.
  "never-made",
  // The farm has lost blobs of it.
  "incomplete",
  "quarantined",
  // The farm did not answer, or not in time.
  "farm-away",
  // A share of hits is made again on purpose.
  "cross-check",
]);
export type LateBecause = z.infer<typeof LateBecause>;

export const RequestedResult = z.object({
  namespace: z.string().max(32),
  key: ShortText,
  source: ResultSource,
  because: LateBecause.nullable(),
  /** From the build's start. */
  atMs: Count,
  bytes: Bytes,
  /** How long it was there before it was asked for; null of what was not fetched ahead. */
  leadMs: Count.nullable(),
  /** How long the build waited for it. */
  waitedMs: Count,
  savedMs: Count.nullable(),
});
export type RequestedResult = z.infer<typeof RequestedResult>;

export const UsedIndex = z.object({
  source: z.enum(["commit", "tree", "ancestor", "branch", "repository"]),
  commit: CommitId,
  distance: Count,
  complete: z.boolean(),
  entries: Count,
  /** Of these, what was left alone as it was made of something that has changed since. */
  dropped: Count.optional(),
});
export type UsedIndex = z.infer<typeof UsedIndex>;

/** What a granary's disk cost while it was full, or could not be written. */
export const DiskCost = z.object({
  /** Of what was made, or had been fetched. */
  refusedWrites: Count,
  /** Of what was there before, removed to make room. */
  removedBytes: Bytes,
});
export type DiskCost = z.infer<typeof DiskCost>;

/** What a build had from where, as its granary tells it once the build is over. */
export const GranaryBuildReport = z
  .object({
    id: z.uuid(),
    project: z.string().max(200),
    repository: z.string().max(200),
    commit: CommitId.nullable(),
    branch: z.string().max(255),
    /** Whether the tree had changes that the commit does not. Nothing of it is indexed under the commit then. */
    dirty: z.boolean(),
    environment: EnvironmentName,
    machine: z.string().max(200),
    /** What was run, for people. */
    command: ShortText,
    startedAt: Time,
    endedAt: Time,
    exitCode: z.number().int().nullable(),
    indexes: z.array(UsedIndex).max(3),
    /**
     * Why nothing was fetched ahead, where nothing was to be: the build said so, or more than half of what came for the last
     * builds of its command was for nothing.
     */
    notAhead: z.enum(["not-wished", "wasteful"]).optional(),
    /** Asked-for results by where they came from. */
    counts: z.object({
      local: Count,
      prefetched: Count,
      fetched: Count,
      missed: Count,
      unreachable: Count,
    }),
    bytes: z.object({
      local: Bytes,
      prefetched: Bytes,
      fetched: Bytes,
      /** Came over the line ahead of being asked for, asked for or not. */
      transferred: Bytes,
      /** Of these, what the build never asked for. */
      wasted: Bytes,
      uploaded: Bytes,
    }),
    /** Prefetched results: how long before they were asked for they were there. */
    lead: z.object({ medianMs: Count, leastMs: Count }).nullable(),
    /** Time in which the build waited for this granary or the farm, all waits together. */
    waitedMs: Count,
    /** What making all hits had taken, as far as it is known. */
    savedMs: Count,
    diskTrouble: DiskCost.optional(),
    /** What was cut, so that cut is not taken for all. */
    truncated: z.array(z.enum(["asked", "index", "prefetch-bytes", "prefetch-results"])).max(4),
    /** The first of each kind, at most 2,000 in all; misses and late ones go before hits. */
    asked: z.array(RequestedResult).max(2_000),
  })
  .meta({ id: "GranaryBuildReport" });
export type GranaryBuildReport = z.infer<typeof GranaryBuildReport>;

/** A line of the list of builds. */
export const GranaryBuildSummary = GranaryBuildReport.omit({ asked: true, truncated: true });
export type GranaryBuildSummary = z.infer<typeof GranaryBuildSummary>;

export const GranaryBuilds = z
  .object({
    builds: z.array(GranaryBuildSummary),
    /** For the next page: the id to go on after. */
    next: z.uuid().nullable(),
  })
  .meta({ id: "GranaryBuilds" });
export type GranaryBuilds = z.infer<typeof GranaryBuilds>;

export const SavingsOfDay = z.object({
  /** `2026-11-22`, UTC. */
  day: z.iso.date(),
  builds: Count,
  asked: Count,
  hits: Count,
  prefetched: Count,
  savedMs: Count,
  waitedMs: Count,
  transferredBytes: Bytes,
  wastedBytes: Bytes,
});
export type SavingsOfDay = z.infer<typeof SavingsOfDay>;

export const Savings = z.object({ days: z.array(SavingsOfDay) }).meta({ id: "Savings" });
export type Savings = z.infer<typeof Savings>;

export const CommitIndexSummary = z.object({
  project: z.string(),
  repository: z.string(),
  commit: CommitId,
  environment: EnvironmentName,
  tree: z.string(),
  branch: z.string(),
  complete: z.boolean(),
  targets: z.array(z.string()),
  entries: Count,
  bytes: Bytes,
  builds: Count,
  chain: Count,
  updatedAt: Time,
  lastUsedAt: Time,
});
export type CommitIndexSummary = z.infer<typeof CommitIndexSummary>;

export const CommitIndexes = z
  .object({ indexes: z.array(CommitIndexSummary) })
  .meta({ id: "CommitIndexes" });
export type CommitIndexes = z.infer<typeof CommitIndexes>;

export const IndexedResult = z.object({
  namespace: z.string(),
  key: z.string(),
  bytes: Bytes,
  blobs: Count,
  firstMs: Count,
  savedMs: Count.nullable(),
  /** Whether the farm still has it, whole. */
  here: z.boolean(),
});

/** One index with a page of what it names, in order of first use. */
export const CommitIndexPage = z
  .object({
    index: CommitIndexSummary,
    results: z.array(IndexedResult),
    /** The place to go on at. */
    next: Count.nullable(),
  })
  .meta({ id: "CommitIndexPage" });
export type CommitIndexPage = z.infer<typeof CommitIndexPage>;

/** A result that came out otherwise when it was made once more. */
export const Divergence = z.object({
  namespace: z.string().max(32),
  key: ShortText,
  /** `hash/size` of the value that was kept, and of what came out. */
  kept: z.string().max(200),
  madeNow: z.string().max(200),
  /** Which files differ, for people. */
  differs: z.array(ShortText).max(100),
  machine: z.string().max(200),
  build: z.uuid().nullable(),
  at: Time,
});
export type Divergence = z.infer<typeof Divergence>;

export const QuarantinedResult = z.object({
  project: z.string(),
  divergence: Divergence,
  producer: z.string(),
  foundAt: Time,
  foundBy: z.string(),
  releasedAt: Time.nullable(),
  releasedBy: z.string().nullable(),
  /** Builds that were given it, the newest first. */
  givenTo: z.array(
    z.object({ build: z.uuid(), machine: z.string(), commit: z.string(), at: Time }),
  ),
  /** What those builds made afterwards and published: by their own index. */
  madeFrom: Count,
  /** How much of that is in quarantine as well, as somebody decided. */
  alsoInQuarantine: Count.default(0),
});
export type QuarantinedResult = z.infer<typeof QuarantinedResult>;

export const Quarantine = z
  .object({ results: z.array(QuarantinedResult) })
  .meta({ id: "Quarantine" });
export type Quarantine = z.infer<typeof Quarantine>;

/**
 * A result in quarantine: to let it out (what was kept is forgotten, and made anew when it is asked for), or to have what
 * was made from it there, too.
 */
export const ReleaseResult = z
  .object({
    project: z.string().min(1).max(200),
    namespace: z.string().max(32),
    key: ShortText,
  })
  .meta({ id: "ReleaseResult" });
export type ReleaseResult = z.infer<typeof ReleaseResult>;
