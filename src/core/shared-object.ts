import { z } from "zod";

const RunName = {
  graph: z.uuid(),
  job: z.string().min(1).max(256),
  run: z.number().int().min(1),
};

/** The one object that a share link opens. */
export const SharedObject = z.discriminatedUnion("kind", [
  /** The log of a run; with `batch`, that of a batch of a chunked job. */
  z.object({
    kind: z.literal("log"),
    ...RunName,
    batch: z.number().int().min(1).optional(),
  }),
  /** A file among the outputs of a run. */
  z.object({ kind: z.literal("output"), ...RunName, path: z.string().min(1).max(4_096) }),
  /** Two artifacts of a benchmark suite, compared by one metric. */
  z.object({
    kind: z.literal("comparison"),
    suite: z.string().max(100),
    before: z.string().max(200),
    after: z.string().max(200),
    metric: z.string().max(40),
  }),
]);
export type SharedObject = z.infer<typeof SharedObject>;

const dayMs = 24 * 3_600_000;
/** How long a share link is valid, in ms, unless its maker says otherwise. */
export const defaultShareMs = 7 * dayMs;
export const longestShareMs = 90 * dayMs;
