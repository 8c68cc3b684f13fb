import { z } from "zod";
import { rightAt, rightOnFarm } from "#core/right.ts";
import { endpoint, json } from "../endpoint.ts";
import {
  MetricDefinition,
  MetricName,
  MetricValue,
  SetMetric,
  Times,
  TimesGrouping,
} from "../times.ts";

/** Waiting times, and the metrics of the farm. */
export const timesEndpoints = {
  times: endpoint({
    method: "GET",
    path: "/times",
    right: rightAt("repository or farm", "read"),
    mayLag: true,
    summary:
      "Waiting and run times of runs, in total and by `branch`, `pool` or `kind`, also of runs that never started or still wait; the durations of graphs; the metric of record. `window` is a duration from `1m` to `366d`.",
    query: z.object({
      repository: z.string().optional(),
      branch: z.string().optional(),
      group: TimesGrouping.default("branch"),
      window: z.string().max(64).default("7d"),
    }),
    answer: json(Times),
  }),
  metrics: endpoint({
    method: "GET",
    path: "/metrics",
    right: rightOnFarm("read"),
    summary: "The metric of record is the first.",
    answer: json(z.array(MetricDefinition)),
  }),
  metric: endpoint({
    method: "GET",
    path: "/metrics/:name",
    right: rightOnFarm("read"),
    mayLag: true,
    summary: "What a metric measures, and its value now.",
    answer: json(MetricValue),
  }),
  setMetric: endpoint({
    method: "PUT",
    path: "/metrics/:name",
    right: rightOnFarm("administer"),
    summary: "Sets what a metric measures; `ofRecord: true` makes it the one of record.",
    params: z.object({ name: MetricName }),
    body: SetMetric,
    answer: json(MetricValue),
  }),
} as const;
