import { z } from "zod";
import { durationWithin } from "./duration.ts";

const dayMs = 24 * 3_600_000;

/** How a job relates to the same job on other commits, and to machines outside the farm. */
export const rangeShape = {
  coalesce: z
    .strictObject({
      key: z
        .string()
        .min(1)
        .max(256)
        .describe(
          "The result of a job counts for other jobs with the same repository, branch and key. Example: slow-tests",
        ),
      "min-depth": z
        .number()
        .int()
        .min(1)
        .max(10_000)
        .optional()
        .describe("The number of older jobs that must be waiting. Default: 1."),
      "min-age": durationWithin(0, 30 * dayMs, "0s to 30d")
        .optional()
        .describe("The time that each of them must have waited. Default: 0s."),
    })
    .optional()
    .describe(
      "If jobs of several commits wait, only the newest runs, and its result counts for the older ones. They can still be activated later.",
    ),
  outside: z
    .boolean()
    .optional()
    .describe(
      "Another machine runs it instead of a worker, and reports the result (grange report).",
    ),
} as const;
