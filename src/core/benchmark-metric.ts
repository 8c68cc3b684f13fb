import { z } from "zod";

/**
 * How figures of a metric behave when nothing changed: `exact` ones are equal, `deterministic` ones nearly equal
 * (instructions, sizes), `noisy` ones vary (times, memory).
 */
export const MetricNature = z.enum(["exact", "deterministic", "noisy"]);
export type MetricNature = z.infer<typeof MetricNature>;

export const MetricUnit = z.enum(["count", "instructions", "seconds", "bytes", "per-second"]);
export type MetricUnit = z.infer<typeof MetricUnit>;

export const Metric = z.object({
  name: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, {
    error: "small letters, digits and -, at most 40, beginning with a letter",
  }),
  nature: MetricNature,
  unit: MetricUnit,
  better: z.enum(["lower", "higher"]),
  /** False: the metric is shown, but no verdict is based on it. */
  decides: z.boolean(),
});
export type Metric = z.infer<typeof Metric>;

/**
 * The values of one test or one iteration, by the name of the metric. A metric that could not be measured is absent.
 */
export const MetricValues = z.record(z.string(), z.number());
export type MetricValues = z.infer<typeof MetricValues>;
