import { z } from "zod";

const Count = z.number().int().nonnegative();
/** A duration in ms. */
const Ms = z.number().nonnegative();

const MnemonicTiming = z.object({
  mnemonic: z.string(),
  cached: Count,
  executed: Count,
  failed: Count,
  /** From the request until a worker began, all together. */
  waitedMs: Ms,
  ranMs: Ms,
  longestMs: Ms,
});

const WorkerTiming = z.object({ worker: z.string(), executed: Count, ranMs: Ms });

/** An action of the longest chain. */
const ChainStep = z.object({
  executionId: z.uuid(),
  target: z.string(),
  mnemonic: z.string(),
  worker: z.string().nullable(),
  /** From the end of the step before until this action was requested: the build tool's own time. */
  toolMs: Ms,
  waitedMs: Ms,
  ranMs: Ms,
});

export const BuildTiming = z
  .object({
    /** From the first request until the last end. */
    wallMs: Ms,
    /** Those with the longest running time first. */
    mnemonics: z.array(MnemonicTiming),
    workers: z.array(WorkerTiming),
    /** First to last; at most 100, the last ones. */
    chain: z.array(ChainStep),
    /** How many steps the chain has. */
    chainLength: Count,
    isCut: z.boolean(),
  })
  .meta({ id: "BuildTiming" });
export type BuildTiming = z.infer<typeof BuildTiming>;
