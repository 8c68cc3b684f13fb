import { z } from "zod";

const Count = z.number().int().nonnegative();
const Bytes = z.number().int().nonnegative();
const Time = z.iso.datetime();
const ShortText = z.string().max(1_024);

/** A commit's full id, SHA-1 or SHA-256. */
export const CommitId = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "a commit's whole id");
/** The name of a build environment. */
export const EnvironmentName = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,128}$/, "an environment's digest, or a word");

/**
 * The source of a requested result: present from earlier builds; prefetched in time; fetched while the build waited;
 * not existing; or unknown, because the farm could not be reached.
 */
export const ResultSource = z.enum(["local", "prefetched", "fetched", "missed", "unreachable"]);
export type ResultSource = z.infer<typeof ResultSource>;

/** Why the build had to wait for a result, or could not get it. */
export const LateReason = z.enum([
  // No index contained it.
  "not-indexed",
  // An index contained it, but the build requested it before the transfer was finished.
  "overtaken",
  // It was left out of the transfer: too large, too late, or above the limits.
  "over-budget",
  // No build had made it.
  "never-made",
  // The farm has lost some of its blobs.
  "incomplete",
  "quarantined",
  // The farm did not respond, or not in time.
  "farm-away",
  // A share of hits is deliberately made again for comparison.
  "cross-check",
]);
export type LateReason = z.infer<typeof LateReason>;

export const RequestedResult = z.object({
  namespace: z.string().max(32),
  key: ShortText,
  source: ResultSource,
  because: LateReason.nullable(),
  /** Measured from the build's start. */
  atMs: Count,
  bytes: Bytes,
  /** How long it was present before the request; null unless it was prefetched. */
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
  /** Entries that were left out because one of their input files has changed. */
  dropped: Count.optional(),
});
export type UsedIndex = z.infer<typeof UsedIndex>;

/** The losses caused by a full or unwritable disk. */
export const DiskCost = z.object({
  /** New or fetched results and blobs that could not be stored. */
  refusedWrites: Count,
  /** Present results and blobs that were removed to free disk space. */
  removedBytes: Bytes,
});
export type DiskCost = z.infer<typeof DiskCost>;

/** A granary's report about an ended build: the sources of its results. */
export const GranaryBuildReport = z
  .object({
    id: z.uuid(),
    project: z.string().max(200),
    repository: z.string().max(200),
    commit: CommitId.nullable(),
    branch: z.string().max(255),
    /** Whether the working tree had uncommitted changes. Its results are then not indexed under the commit. */
    dirty: z.boolean(),
    environment: EnvironmentName,
    machine: z.string().max(200),
    /** The command, for people. */
    command: ShortText,
    startedAt: Time,
    endedAt: Time,
    exitCode: z.number().int().nullable(),
    indexes: z.array(UsedIndex).max(3),
    /**
     * Why nothing was prefetched: the build disabled it, or the last builds with this command did not use more than
     * half of the prefetched data.
     */
    notAhead: z.enum(["not-wished", "wasteful"]).optional(),
    /** The requested results by their source. */
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
      /** Bytes that were prefetched, whether the build requested them or not. */
      transferred: Bytes,
      /** Of these, the bytes that the build never requested. */
      wasted: Bytes,
      uploaded: Bytes,
    }),
    /** Prefetched results: the time between their arrival and their request. */
    lead: z.object({ medianMs: Count, leastMs: Count }).nullable(),
    /** Time in which the build waited for this granary or the farm, in total. */
    waitedMs: Count,
    /** The total time that making the hits had taken, as far as known. */
    savedMs: Count,
    diskTrouble: DiskCost.optional(),
    /** The lists that were truncated. */
    truncated: z.array(z.enum(["asked", "index", "prefetch-bytes", "prefetch-results"])).max(4),
    /** The first of each kind, at most 2,000 in all; misses and late results come before hits. */
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
    /** For the next page: the last id of this one. */
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
  /** Whether the farm still has the complete result. */
  here: z.boolean(),
});

/** An index with a page of its entries, in order of first use. */
export const CommitIndexPage = z
  .object({
    index: CommitIndexSummary,
    results: z.array(IndexedResult),
    /** The position of the next page. */
    next: Count.nullable(),
  })
  .meta({ id: "CommitIndexPage" });
export type CommitIndexPage = z.infer<typeof CommitIndexPage>;

/** A result that differed when it was made again. */
export const Divergence = z.object({
  namespace: z.string().max(32),
  key: ShortText,
  /** `hash/size` of the stored and of the new value. */
  kept: z.string().max(200),
  madeNow: z.string().max(200),
  /** The differing files, for people. */
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
  /** Builds that received it, the newest first. */
  givenTo: z.array(
    z.object({ build: z.uuid(), machine: z.string(), commit: z.string(), at: Time }),
  ),
  /** Results that those builds made and published afterwards, according to their own index. */
  madeFrom: Count,
  /** How many of these are in quarantine as well, by a person's decision. */
  alsoInQuarantine: Count.default(0),
});
export type QuarantinedResult = z.infer<typeof QuarantinedResult>;

export const Quarantine = z
  .object({ results: z.array(QuarantinedResult) })
  .meta({ id: "Quarantine" });
export type Quarantine = z.infer<typeof Quarantine>;

/**
 * Releases a quarantined result (deletes it, so that it is made again on request), or also quarantines the results that
 * were made from it.
 */
export const ReleaseResult = z
  .object({
    project: z.string().min(1).max(200),
    namespace: z.string().max(32),
    key: ShortText,
  })
  .meta({ id: "ReleaseResult" });
export type ReleaseResult = z.infer<typeof ReleaseResult>;
