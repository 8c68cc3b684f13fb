import { z } from "zod";

/** What the measurement tells this process. */
export const Order = z.object({
  servers: z.array(z.string()),
  count: z.number(),
  prefix: z.string(),
});
export type Order = z.infer<typeof Order>;

/** What this process tells the measurement. */
export const News = z.discriminatedUnion("kind", [
  /** All are registered, this long after the first began; without the start of this process. */
  z.object({ kind: z.literal("registered"), ms: z.number() }),
  z.object({ kind: z.literal("failed"), why: z.string() }),
  /** An execution has reached a worker; times by `monotonicMs`. */
  z.object({
    kind: z.literal("claimed"),
    hash: z.string(),
    waitedMs: z.number(),
    atMs: z.number(),
  }),
]);
export type News = z.infer<typeof News>;
