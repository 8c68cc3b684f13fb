import { z } from "zod";
import { durationWithin } from "./duration.ts";
import { JobName } from "./job-name.ts";
import { RelativePath } from "./relative-path.ts";

/**
 * A test's name, a directory, or any text that the job's command understands. No line breaks, because lists are written
 * as lines.
 */
export const Item = z
  .string()
  .min(1, "an item cannot be empty")
  .max(1_024, "an item has at most 1,024 characters")
  .regex(/^[^\n\r\0]*$/, "an item has no line breaks");

export const mostItems = 100_000;

/** How a job is divided into batches of items that workers share. */
export const Chunks = z
  .strictObject({
    items: z
      .array(Item)
      .min(1, "name at least one item")
      .max(mostItems, "a job has at most 100,000 items")
      .optional()
      .describe("The items by name."),
    from: z
      .strictObject({
        job: JobName.describe("The job that makes the list; it must be among the needs."),
        output: RelativePath.describe("The file with the items: a JSON list, or one item a line."),
      })
      .optional()
      .describe("The items are the output of another job."),
    min: z
      .number()
      .int()
      .min(1)
      .max(1_000)
      .optional()
      .describe("The minimum number of parallel batches. Default: 1."),
    max: z
      .number()
      .int()
      .min(1)
      .max(1_000)
      .optional()
      .describe("The maximum number of parallel batches. Default: 10."),
    budget: durationWithin(1, 24 * 3_600_000, "1ms to 24h")
      .optional()
      .describe("The longest duration of a batch. Default: 60s."),
    results: RelativePath.optional().describe(
      'A file that the commands write, with the duration of each item in ms: {"item": 1200}.',
    ),
  })
  .superRefine((chunks, context) => {
    const complain = (message: string) => context.addIssue({ code: "custom", path: [], message });
    if ((chunks.items === undefined) === (chunks.from === undefined))
      complain('chunks need one of "items" and "from"');
    if ((chunks.min ?? 1) > (chunks.max ?? Math.max(10, chunks.min ?? 1)))
      complain("chunks: min is more than max");
    if (chunks.items !== undefined && new Set(chunks.items).size < chunks.items.length)
      complain("an item is named twice");
  });
export type Chunks = z.output<typeof Chunks>;
