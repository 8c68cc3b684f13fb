import { z } from "zod";

/** The strategy's estimate for one class. */
export const Alternative = z.object({
  sizeClass: z.number(),
  /** The expected duration; null when unknown. */
  expectedMs: z.number().nullable(),
  /** The range around it: one in ten is faster than the first value, one in ten slower than the second. */
  bandMs: z.tuple([z.number(), z.number()]).optional(),
  waitMs: z.number(),
  /** The cost of its time and of possible retries, in the farm's unit. */
  cost: z.number().nullable(),
  /** The probability that the execution fails there: out of memory, too slow, or another failure. In [0, 1]. */
  risk: z.number().nullable(),
  /** The probability of this class in the strategy's random draw, if it draws. */
  probability: z.number().optional(),
  /** A further remark for people: "ran out of memory here 2 times". */
  remark: z.string().optional(),
});
export type Alternative = z.infer<typeof Alternative>;

/** Why a class was chosen: a name for programs, and a sentence for people. */
export const Reason = z.object({
  kind: z.enum([
    /** There was no other class. */
    "only-class",
    "pinned",
    /** The strategy always makes this choice. */
    "fixed",
    /** Chosen at random by its probability. */
    "drawn",
    /** The lowest cost of all. */
    "cheapest",
    /** To measure an unknown class. */
    "exploring",
    /** It failed on the largest class recently. */
    "failed-lately",
    /** The statistics could not be read. */
    "no-statistics",
    "retry-after-failure",
    "retry-after-timeout",
    "retry-after-out-of-memory",
    "retry-after-lost-worker",
    "hedge",
  ]),
  text: z.string(),
});
export type Reason = z.infer<typeof Reason>;

/** A size class for an execution, with its timeout and hedge. */
export interface Choice {
  readonly sizeClass: number;
  /** Whether only this class is suitable; otherwise an idle larger class may take it. */
  readonly isExact: boolean;
  readonly expectedMs: number;
  /** At most the client's limit. */
  readonly timeoutMs: number;
  /** A second run on a larger class, in case the first takes longer than expected. */
  readonly hedge: { readonly afterMs: number; readonly sizeClass: number } | undefined;
  /** Strategy `pagerank`: the class of a run in the background after this one has succeeded. */
  readonly backgroundSizeClass: number | undefined;
  /** The start values of the next power iteration. */
  readonly pageRank: ReadonlyMap<number, number> | undefined;
  readonly reason: Reason;
  readonly alternatives: readonly Alternative[];
}
