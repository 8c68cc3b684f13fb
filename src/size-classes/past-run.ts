import { z } from "zod";

/** The end of a run, if it contains information. Failures of machines contain none, and are not listed here. */
export const runEnds = ["succeeded", "failed", "timed_out", "out_of_memory"] as const;
export type RunEnd = (typeof runEnds)[number];

/**
 * The number of last runs that are stored for each class: the history of the original design, Buildbarn's recommended
 * value.
 */
export const historySize = 32;

/**
 * One run of an action on some size class.
 *
 * The seed's outcome (failed; timed out, with its timeout; succeeded, with its duration), with the resources that the
 * process tree used.
 */
export const PastRun = z.object({
  end: z.enum(runEnds),
  /** The duration of its process, without fetching and uploading. */
  durationMs: z.number().nonnegative(),
  /** The timeout that it had. */
  timeoutMs: z.number().positive(),
  /** User and system time of the whole process tree; absent when it was not measured. */
  cpuMs: z.number().nonnegative().optional(),
  /** The peak of the whole process tree. */
  peakMemoryBytes: z.number().nonnegative().optional(),
  /** The time of its end; ms since 1970. */
  at: z.number(),
});
export type PastRun = z.infer<typeof PastRun>;
