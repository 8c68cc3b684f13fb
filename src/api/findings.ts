import { z } from "zod";

/** A line of a log that the job's definition counts as an error. */
export const ErrorLine = z.object({
  /** From 1, as on the log's page. */
  line: z.number().int(),
  /** Its first 500 characters, as shown in a terminal. */
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
  /** The failure class of the run, from the classes in the definition. */
  failureClass: z.string().nullable(),
  /** In the order of the log; the first 50. */
  errorLines: z.array(ErrorLine),
  /** Keyed by the names in the definition. */
  numbers: z.record(z.string(), FoundNumber),
});
export type Findings = z.infer<typeof Findings>;

/** Whether a number is within the allowed range. */
export function isAllowed({ value, min, max }: FoundNumber): boolean {
  return (min === null || value >= min) && (max === null || value <= max);
}
