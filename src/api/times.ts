import { z } from "zod";

/** The criteria for grouping times. */
export const TimesGrouping = z.enum(["branch", "pool", "kind"]);
export type TimesGrouping = z.infer<typeof TimesGrouping>;

/** Statistics of durations, in ms; null when nothing was measured. Percentiles are interpolated. */
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
 * The waiting time of a run begins when it is no longer blocked, and ends when its process starts, or when it is
 * cancelled or expires; for a waiting run, it ends now. Cache hits do not wait. Only runs on workers have waiting
 * times. The running time is from the start to the end of its last attempt.
 */
export const GroupTimes = z.object({
  /** A branch, a pool (`OSFamily=linux`) or a kind; empty for all together and for "no branch". */
  name: z.string(),
  wait: Durations,
  run: Durations,
  /**
   * The share of runs that waited no longer than the goal, from 0 to 1; null when there were none. Waiting runs that
   * are still within the goal do not count.
   */
  withinGoal: z.number().nullable(),
});
export type GroupTimes = z.infer<typeof GroupTimes>;

/**
 * The times of whole graphs, until they first ended.
 *
 * Critical path: the running time of the chain of jobs that determined the end. The rest of the end-to-end time is
 * waiting for the farm.
 */
export const GraphTimes = z.object({
  /** A branch; empty for all together and for "no branch". */
  name: z.string(),
  endToEnd: Durations,
  /** From the graph's beginning to its first failed run. */
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

/** The statistic that is the metric's value: a percentile in ms, or the share within a time. */
const MetricFigure = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("percentile"), percentile: z.number().min(0).max(100) }),
  z.object({
    kind: z.literal("share"),
    withinSeconds: z.number().positive(),
    /** The goal, from 0 to 1. */
    goal: z.number().min(0).max(1).nullable(),
  }),
]);
type MetricFigure = z.infer<typeof MetricFigure>;

export const MetricName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "a metric's name has small letters, digits and dashes");

/** Sets a metric. It is computed from runs, so that it also covers the past. */
export const SetMetric = z
  .object({
    measure: MetricMeasure,
    figure: MetricFigure,
    group: TimesGrouping.nullable().default(null),
    /** A selection of jobs such as `kind:test & !windows`; empty for all. Metrics of graph times have no filter. */
    filter: z.string().max(16_384).default(""),
    windowSeconds: z
      .number()
      .int()
      .min(60)
      .max(366 * 86_400)
      .default(7 * 86_400),
    /** Makes it the farm's metric of record, in place of the previous one. */
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
    /** The number of runs or graphs behind the value. */
    count: z.number().int(),
    groups: z.array(
      z.object({ name: z.string(), value: z.number().nullable(), count: z.number().int() }),
    ),
    /** Whether its goal is met; null without a goal or without measurements. */
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
    /** The goal for the start of runs, such as 95 % within 15 minutes. */
    goal: z.object({ withinSeconds: z.number(), share: z.number() }),
    all: GroupTimes,
    /** The groups, those with most runs first; at most 200. */
    groups: z.array(GroupTimes),
    graphs: GraphTimes,
    /** By branch; empty when a graph may belong to several groups. */
    graphGroups: z.array(GraphTimes),
    /** The farm's metric of record, over all repositories and its own window. */
    record: MetricValue.nullable(),
  })
  .meta({ id: "Times" });
export type Times = z.infer<typeof Times>;
