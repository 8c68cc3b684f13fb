import { z } from "zod";

/** A line of a log that the job's definition counts as an error. */
export const ErrorLine = z.object({
  /** From 1, as the log's page counts. */
  line: z.number().int(),
  /** Its first 500 characters, as a terminal shows it. */
  text: z.string(),
});
export type ErrorLine = z.infer<typeof ErrorLine>;

/** A number found in a log, and the range in the job's definition. */
export const FoundNumber = z.object({
  value: z.number(),
  min: z.number().nullable(),
  max: z.number().nullable(),
});
export type FoundNumber = z.infer<typeof FoundNumber>;

/** The findings of a job's rules in the log of a run. */
export const Findings = z.object({
  /** Which class of failures the run is in, of those that the definition names. */
  failureClass: z.string().nullable(),
  /** In the order of the log; the first 50. */
  errorLines: z.array(ErrorLine),
  /** By the names that the definition gives them. */
  numbers: z.record(z.string(), FoundNumber),
});
export type Findings = z.infer<typeof Findings>;

/** Whether a number is within the allowed range. */
export function isAllowed({ value, min, max }: FoundNumber): boolean {
  return (min === null || value >= min) && (max === null || value <= max);
}
