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
          "Jobs of one repository, branch and key answer for each other. Example: slow-tests",
        ),
      "min-depth": z
        .number()
        .int()
        .min(1)
        .max(10_000)
        .optional()
        .describe("So many older ones must be waiting. Default: 1."),
      "min-age": durationWithin(0, 30 * dayMs, "0s to 30d")
        .optional()
        .describe("So long each of them must have waited. Default: 0s."),
    })
    .optional()
    .describe(
      "When jobs of several commits wait, the newest one's run answers for the older ones. They can be activated later all the same.",
    ),
  outside: z
    .boolean()
    .optional()
    .describe(
      "No worker of the farm runs it: another machine does, and reports how it went (grange report).",
    ),
} as const;
