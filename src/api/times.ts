import { z } from "zod";

/** What times are told apart by. */
export const TimesGrouping = z.enum(["branch", "pool", "kind"]);
export type TimesGrouping = z.infer<typeof TimesGrouping>;

/** Of a number of durations, ms; null where nothing was measured. Percentiles lie between the values beside them. */
export const Durations = z.object({
  count: z.number().int(),
  meanMs: z.number().nullable(),
  p50Ms: z.number().nullable(),
  p90Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
  p99Ms: z.number().nullable(),
  maxMs: z.number().nullable(),
});
export type Durations = z.infer<typeof Durations>;

/**
 * The times of a group of runs.
 *
 * A run waits from when nothing was in its way any more until its process started, or until it was cancelled or expired;
 * one that waits still has waited until now. What is blocked waits for nobody, and a cache hit for nothing. Only workers
 * let runs wait. It runs from
 * its start to its end, in its last attempt.
 */
export const GroupTimes = z.object({
  /** A branch, a pool (`OSFamily=linux`) or a kind; empty for all together, and for no branch. */
  name: z.string(),
  wait: Durations,
  run: Durations,
  /** Runs that waited no longer than the goal's time, from 0 to 1; null when there were none. Those that wait still and not longer are not counted. */
  withinGoal: z.number().nullable(),
});
export type GroupTimes = z.infer<typeof GroupTimes>;

/**
 * The times of whole graphs, as they were when they were over for the first time.
 *
 * Critical path: what the jobs ran that the end had to wait for. End to end without it is what
 * the farm let them wait.
 */
export const GraphTimes = z.object({
  /** A branch; empty for all together, and for no branch. */
  name: z.string(),
  endToEnd: Durations,
  /** From the graph's beginning to its first bad run. */
  firstFailure: Durations,
  criticalPath: Durations,
});
export type GraphTimes = z.infer<typeof GraphTimes>;

export const MetricMeasure = z.enum([
  "wait",
  "run",
  "end-to-end",
  "first-failure",
  "critical-path",
]);
export type MetricMeasure = z.infer<typeof MetricMeasure>;

/** What of the measure is the metric's value: a percentile in ms, or the share that lies within a time. */
const MetricFigure = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("percentile"), percentile: z.number().min(0).max(100) }),
  z.object({
    kind: z.literal("share"),
    withinSeconds: z.number().positive(),
    /** What is good enough, from 0 to 1. */
    goal: z.number().min(0).max(1).nullable(),
  }),
]);
type MetricFigure = z.infer<typeof MetricFigure>;

export const MetricName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "a metric's name has small letters, digits and dashes");

/** Sets a metric. All of it is computed from runs, so that it holds for the past, too. */
export const SetMetric = z
  .object({
    measure: MetricMeasure,
    figure: MetricFigure,
    group: TimesGrouping.nullable().default(null),
    /** A selection of jobs such as `kind:test & !windows`; empty for all. Times of graphs have none. */
    filter: z.string().max(16_384).default(""),
    windowSeconds: z
      .number()
      .int()
      .min(60)
      .max(366 * 86_400)
      .default(7 * 86_400),
    /** Makes it the one by which the farm is measured, in place of the one before. */
    ofRecord: z.boolean().default(false),
  })
  .meta({ id: "SetMetric" });
export type SetMetric = z.input<typeof SetMetric>;

export const MetricDefinition = SetMetric.required()
  .extend({ name: MetricName })
  .meta({ id: "MetricDefinition" });
export type MetricDefinition = z.output<typeof MetricDefinition>;

export const MetricValue = z
  .object({
    metric: MetricDefinition,
    /** In ms for a percentile, from 0 to 1 for a share; null when nothing was measured. */
    value: z.number().nullable(),
    /** Runs, or graphs, that it is made of. */
    count: z.number().int(),
    groups: z.array(
      z.object({ name: z.string(), value: z.number().nullable(), count: z.number().int() }),
    ),
    /** Whether its goal is met; null when it has none, or nothing was measured. */
    goalMet: z.boolean().nullable(),
  })
  .meta({ id: "MetricValue" });
export type MetricValue = z.infer<typeof MetricValue>;

export const Times = z
  .object({
    repository: z.string().nullable(),
    branch: z.string().nullable(),
    window: z.object({
      from: z.iso.datetime(),
      until: z.iso.datetime(),
      seconds: z.number().int(),
    }),
    group: TimesGrouping,
    /** How soon a run is to start: 95 % within 15 minutes. */
    goal: z.object({ withinSeconds: z.number(), share: z.number() }),
    all: GroupTimes,
    /** Those with most runs first; at most 200. */
    groups: z.array(GroupTimes),
    graphs: GraphTimes,
    /** By branch; empty when grouped by something that a graph has several of. */
    graphGroups: z.array(GraphTimes),
    /** The farm's metric of record, over all repositories and its own window. */
    record: MetricValue.nullable(),
  })
  .meta({ id: "Times" });
export type Times = z.infer<typeof Times>;
