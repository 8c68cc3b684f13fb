import { z } from "zod";
import { Metric } from "#core/benchmark-metric.ts";
import { TestCase } from "#core/test-case.ts";

const Time = z.iso.datetime();

/** 1 very small … 5 very large, as rustc-perf counts them; 0 for no change. */
const Magnitude = z.int().min(0).max(5);
type Magnitude = z.infer<typeof Magnitude>;

/**
 * The verdict on a case. `undecided` needs more runs: a missing verdict never means `no-change`. `unlike-machines`:
 * both were measured, but never on comparable machines.
 */
export const Verdict = z.enum([
  "regressed",
  "improved",
  "no-change",
  "undecided",
  "unlike-machines",
]);
export type Verdict = z.infer<typeof Verdict>;

/** How a fence judged a deterministic or exact metric. */
export const FenceEvidence = z.object({
  by: z.literal("fence"),
  /** A |relative change| of at least this is significant. */
  threshold: z.number(),
  /** The number of predecessors' values that the threshold is based on; 0: the fixed threshold. */
  history: z.number().int(),
  factor: z.number(),
  /** Both values are equal. */
  exact: z.boolean(),
  /**
   * The variation between runs of the earlier artifact, of the later one, and of equal artifacts in self-tests, as
   * fractions; null: not measured. Only for deterministic metrics; older reports lack it.
   */
  scatter: z
    .object({
      before: z.number().nullable(),
      after: z.number().nullable(),
      selfTests: z.number().nullable(),
    })
    .optional(),
});
export type FenceEvidence = z.infer<typeof FenceEvidence>;

/** The measurements of one run of interleaved processes. */
const MeasuredByPairs = {
  pairs: z.number().int(),
  /** Relative change. */
  effect: z.number(),
  /** Its interval; zero is outside exactly when `p` is at most 1 - `level`. */
  low: z.number(),
  high: z.number(),
};

/** How interleaved processes judged a noisy metric. */
export const PairsEvidence = z.object({
  by: z.literal("pairs"),
  ...MeasuredByPairs,
  /** Exact, two-sided: Wilcoxon's signed-rank test. */
  p: z.number().nullable(),
  /**
   * The confidence level of the interval, from 0 to 1. Older reports lack it: their level was 99 %, and p was from
   * another test.
   */
  level: z.number().optional(),
  /** Adjusted by Benjamini and Hochberg over the comparison. */
  adjustedP: z.number().nullable(),
  /** Smaller changes are irrelevant. */
  limit: z.number(),
  /** Null: no confirmation was needed, or none is finished yet. */
  confirmed: z.boolean().nullable(),
  /** The rerun that confirmed or refuted it. Older reports lack it. */
  again: z
    .object({ ...MeasuredByPairs, p: z.number(), level: z.number() })
    .nullable()
    .optional(),
});
export type PairsEvidence = z.infer<typeof PairsEvidence>;

/** A noisy metric with only its lowest values known: a hint, not a verdict. */
const HintEvidence = z.object({ by: z.literal("hint") });
type HintEvidence = z.infer<typeof HintEvidence>;

const Evidence = z.discriminatedUnion("by", [FenceEvidence, PairsEvidence, HintEvidence]);
type Evidence = z.infer<typeof Evidence>;

export const CaseComparison = z.object({
  case: TestCase,
  category: z.enum(["primary", "secondary"]),
  metric: z.string(),
  before: z.number(),
  after: z.number(),
  /** (after - before) / before; null when before is 0 and after is not. */
  change: z.number().nullable(),
  significant: z.boolean(),
  magnitude: Magnitude,
  /** Significant, and not very small: shown by default. */
  relevant: z.boolean(),
  verdict: Verdict,
  evidence: Evidence,
  fingerprint: z.string().nullable(),
  collectors: z.object({ before: z.string(), after: z.string() }),
  /** A warning makes the verdict weaker, never stronger. */
  warnings: z.array(z.string()),
});
export type CaseComparison = z.infer<typeof CaseComparison>;

export const Tally = z.object({
  count: z.number().int(),
  benchmarks: z.number().int(),
  /** The mean of the relative changes; null when there are none. */
  arithmeticMean: z.number().nullable(),
  geometricMean: z.number().nullable(),
  least: z.number().nullable(),
  most: z.number().nullable(),
});
export type Tally = z.infer<typeof Tally>;

export const Direction = z.enum(["none", "regression", "improvement", "mixed"]);
export type Direction = z.infer<typeof Direction>;

export const CategorySummary = z.object({
  direction: Direction,
  regressions: Tally,
  improvements: Tally,
  all: Tally,
});
export type CategorySummary = z.infer<typeof CategorySummary>;

export const MetricSummary = z.object({
  metric: z.string(),
  primary: CategorySummary,
  secondary: CategorySummary,
  direction: Direction,
  deservesAttention: z.boolean(),
  /** The sum of after divided by the sum of before, minus 1, over all cases. */
  accumulated: z.number().nullable(),
  undecided: z.number().int(),
  unlikeMachines: z.number().int(),
  /** Cases without a verdict, because interleaved processes are missing. Older reports lack it. */
  hints: z.number().int().optional(),
});
export type MetricSummary = z.infer<typeof MetricSummary>;

export const MissingCase = z.object({
  case: TestCase,
  /** The side without a figure. */
  missing: z.enum(["before", "after"]),
  error: z.string().nullable(),
});
export type MissingCase = z.infer<typeof MissingCase>;

/** The comparison of two artifacts. */
export const Comparison = z
  .object({
    suite: z.string(),
    before: z.object({ tag: z.string(), datedAt: Time, commit: z.string().nullable() }),
    after: z.object({ tag: z.string(), datedAt: Time, commit: z.string().nullable() }),
    /** Whether `after` follows `before` directly on the main line. */
    contiguous: z.boolean(),
    /** For the arrows of the page. */
    neighbours: z.object({ earlier: z.string().nullable(), later: z.string().nullable() }),
    metrics: z.array(Metric),
    /** The metric of the cases below. */
    metric: z.string(),
    /** One for each metric with figures. */
    summaries: z.array(MetricSummary),
    cases: z.array(CaseComparison),
    missing: z.array(MissingCase),
    /** Benchmarks that fail after and did not before. */
    newlyBroken: z.array(z.object({ benchmark: z.string(), message: z.string() })),
  })
  .meta({ id: "Comparison" });
export type Comparison = z.infer<typeof Comparison>;

/** A request's report for its pull request. It is made once. */
export const Report = z
  .object({
    requestId: z.uuid(),
    suite: z.string(),
    before: z.string(),
    after: z.string(),
    madeAt: Time,
    /** In one sentence. */
    verdict: z.string(),
    direction: Direction,
    summaries: z.array(MetricSummary),
    /** Relevant changes, the greatest first, over all deciding metrics. */
    changes: z.array(CaseComparison),
    missing: z.array(MissingCase),
    newlyBroken: Comparison.shape.newlyBroken,
    /** How to reproduce the comparison by hand. */
    reproduce: z.string(),
    markdown: z.string(),
  })
  .meta({ id: "Report" });
export type Report = z.infer<typeof Report>;
