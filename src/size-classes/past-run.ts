import { z } from "zod";

/** How a run ended, as far as it gives information. Failures of machines give none, and are not here. */
export const runEnds = ["succeeded", "failed", "timed_out", "out_of_memory"] as const;
export type RunEnd = (typeof runEnds)[number];

/** The last so many of each class are remembered: the seed's history, Buildbarn's recommended value. */
export const historySize = 32;

/**
 * One run of an action on some size class.
 *
 * The seed's outcome (failed; timed out, with its timeout; succeeded, with its duration), with the resources that the
 * process tree used.
 */
export const PastRun = z.object({
  end: z.enum(runEnds),
  /** How long its process ran, without fetching and uploading. */
  durationMs: z.number().nonnegative(),
  /** The timeout that it had. */
  timeoutMs: z.number().positive(),
  /** User and system time of the whole process tree; absent when it was not measured. */
  cpuMs: z.number().nonnegative().optional(),
  /** Of the whole process tree at the same time. */
  peakMemoryBytes: z.number().nonnegative().optional(),
  /** When it ended; ms since 1970. */
  at: z.number(),
});
export type PastRun = z.infer<typeof PastRun>;
