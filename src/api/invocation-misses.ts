import { z } from "zod";

const Count = z.number().int().nonnegative();

/** Why an action was executed instead of taken from the cache. */
const MissReason = z.enum([
  /** The tool names no target, so that no earlier action can be found. */
  "no target",
  /** No earlier action of the target made these outputs. */
  "first",
  "inputs",
  "command",
  "inputs and command",
  /** The same action was executed before, and forbids that its result is kept. */
  "not cacheable",
  /** The same action failed before: results of failures are not kept. */
  "failed before",
  /** The same action succeeded before, and its result is not in this cache any more, or may not be used. */
  "not kept",
  /** What can be shown is equal, or the blobs are gone. */
  "unknown",
]);

export const InvocationMiss = z.object({
  executionId: z.uuid(),
  /** The execution of the earlier action; null without one. */
  before: z.uuid().nullable(),
  target: z.string(),
  mnemonic: z.string(),
  reason: MissReason,
  /** For people. */
  sentence: z.string(),
  /** The first input files that differ. */
  paths: z.array(z.string()),
});
export type InvocationMiss = z.infer<typeof InvocationMiss>;

export const InvocationMisses = z
  .object({
    hits: Count,
    /** Actions that this invocation had executed. */
    executed: Count,
    misses: z.array(InvocationMiss),
    next: z.string().nullable(),
  })
  .meta({ id: "InvocationMisses" });
export type InvocationMisses = z.infer<typeof InvocationMisses>;
